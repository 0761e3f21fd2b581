/** Icons: strokes on a field of 24 by 24, in the colour of the text around them. */

const SVG = "http://www.w3.org/2000/svg";

const SHAPES = {
  send: "M12 19V5M5.5 11.5 12 5l6.5 6.5",
  stop: "M7 7h10v10H7z",
  copy: "M9 9h11v11H9zM5 15H4V4h11v1",
  check: "m5 12.5 4.5 4.5L19 7.5",
  edit: "M4 20l1-4.5L16 4.5l3.5 3.5L8.5 19zM14 6.5 17.5 10",
  retry: "M19.5 12a7.5 7.5 0 1 1-2.2-5.3L20 9.2M20 4v5.2h-5.2",
  trash: "M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13M10 11v5M14 11v5",
  plus: "M12 5v14M5 12h14",
  menu: "M4 7h16M4 12h16M4 17h16",
  close: "M6 6l12 12M18 6 6 18",
  chevron: "m9 5 7 7-7 7",
  bot: "M5 9h14v10H5zM12 9V5M9.5 13v2M14.5 13v2M2.5 13v3M21.5 13v3",
  user: "M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM4.5 20.5c.8-3.6 3.7-5.5 7.5-5.5s6.7 1.9 7.5 5.5",
  scroll:
    "M6 4h11a2 2 0 0 1 2 2v12M6 4a2 2 0 0 0-2 2v2h4V6a2 2 0 0 0-2-2zM8 8v10a2 2 0 0 0 2 2h9a2 2 0 0 0 2-2v-1h-9v1a2 2 0 0 1-2 2M12 9h4M12 12.5h4",
  note: "M5 4h14v10l-6 6H5zM13 20v-6h6M9 9h6",
  search: "M10.5 17a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13zM15.5 15.5 20 20",
  memory:
    "M12 5.5A3.5 3.5 0 0 0 5.5 7 3.5 3.5 0 0 0 4.5 13 3.5 3.5 0 0 0 8.5 18.5 2.8 2.8 0 0 0 12 18.5zM12 5.5A3.5 3.5 0 0 1 18.5 7 3.5 3.5 0 0 1 19.5 13 3.5 3.5 0 0 1 15.5 18.5 2.8 2.8 0 0 1 12 18.5",
  download: "M12 4v11M7 10.5l5 5 5-5M5 20h14",
  key: "M8 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM12 12h9M18 12v3.5",
  warning: "M12 4 2.5 20h19zM12 10v4.5M12 17.2v.1",
  tool: "M20 7.5 16.8 10.7 13.3 7.2 16.5 4a5 5 0 0 0-6.3 6.3L4 16.5 7.5 20l6.2-6.2A5 5 0 0 0 20 7.5z",
};

/** @typedef {keyof typeof SHAPES} IconName */

/**
 * An icon that screen readers pass over: what it means is said beside it or in its button's label.
 *
 * @param {IconName} name
 * @returns {SVGSVGElement}
 */
export function icon(name) {
  const svg = document.createElementNS(SVG, "svg");
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", SHAPES[name]);
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("class", `glyph glyph-${name}`);
  svg.setAttribute("aria-hidden", "true");
  svg.setAttribute("focusable", "false");
  svg.append(path);
  return svg;
}
