/** What the page uses of marked: its lexer. */

export interface Token {
  type: string;
  raw: string;
  text?: string;
  tokens?: Token[];
  depth?: number;
  lang?: string;
  href?: string;
  ordered?: boolean;
  start?: number | "";
  task?: boolean;
  checked?: boolean;
  items?: Token[];
  header?: Token[];
  rows?: Token[][];
  align?: "left" | "center" | "right" | null;
}

export function lexer(source: string, options?: { gfm?: boolean; breaks?: boolean }): Token[];
