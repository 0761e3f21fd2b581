/** Deleting one row: asked for, told, and with the focus on what is beside it. */

import { failureText } from "./frame.js";
import { focusRow, neighbourOf } from "./place.js";

/**
 * @param {import("./records.js").App} app
 * @param {import("./frame.js").Frame} frame
 * @param {{
 *   element: HTMLElement,
 *   question: import("./records.js").Question,
 *   request: (choice: string | null) => Promise<unknown>,
 *   done: string,
 * }} deletion `request` is sent with what was chosen; `done` is announced
 */
export async function deleteRow(app, frame, { element, question, request, done }) {
  const answer = await app.dialogs.confirm(question);
  if (!answer) return;
  const list = element.parentElement ?? element;
  const next = neighbourOf(element);

  async function attempt() {
    try {
      await frame.change(() => request(answer?.choice ?? null));
      app.announce(done);
    } catch (error) {
      if (!isGone(error)) return tell(error);
      app.announce("It was deleted already.");
    }
    if (!element.isConnected) focusRow(next, panelOf(list));
  }

  /** @param {unknown} error */
  function tell(error) {
    const again = isStale(error) ? undefined : { label: "Try again", run: attempt };
    const text = isStale(error)
      ? "This was changed meanwhile, so it was not deleted. Look at it, and delete it again."
      : failureText(error);
    app.notify({ text, kind: "error", action: again });
  }

  await attempt();
}

/** @param {HTMLElement} list @returns {HTMLElement} */
function panelOf(list) {
  return list.closest("[role=tabpanel]") ?? list;
}

/** @param {unknown} error */
function isGone(error) {
  return kindOf(error) === "not_found";
}

/** @param {unknown} error */
function isStale(error) {
  return kindOf(error) === "stale_version";
}

/** @param {unknown} error @returns {string} the kind of an ApiError */
export function kindOf(error) {
  return error instanceof Error && "kind" in error ? String(error.kind) : "";
}
