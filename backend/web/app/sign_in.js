/** Signing in: a pasted token that the server accepts. */

import { createApi } from "./api.js";
import { fill, h } from "./dom.js";
import { ApiError } from "./errors.js";
import { card } from "./gate.js";
import { tokenIn } from "./session.js";

/** The smallest request that is answered to nobody without a sign-in; health is open to all. */
const PROOF = "/api/memory/facts";
const WRONG =
  "This token is not accepted. Check that all of it was copied, or ask whoever runs this server for a new one.";

/**
 * @param {HTMLElement} gate
 * @param {{hasEnded: boolean, accepted: (token: string) => void}} options `accepted` gets a token the server takes
 */
export function showSignIn(gate, { hasEnded, accepted }) {
  const error = h("p", { id: "sign-in-error", class: "error", role: "alert" });
  const button = h("button", { type: "submit", class: "primary" }, "Sign in");
  const input = tokenInput();
  const form = h("form", { class: "stack" }, field(input), error, button);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    button.disabled = true;
    const { token, problem } = await checked(input.value);
    button.disabled = false;
    if (token) return accepted(token);
    error.textContent = problem;
    input.setAttribute("aria-invalid", "true");
    input.focus();
    input.select();
  });
  const ended = h("p", null, "Your sign-in has ended. What you were writing is still here when you sign in again.");
  fill(gate, card("Sign in to Afterthought", hasEnded ? ended : null, form));
  input.focus();
}

function tokenInput() {
  const describes = "sign-in-hint sign-in-error";
  // a password field, so that nobody reads it over a shoulder; no name, so that nothing keeps it
  const input = h("input", { id: "token", type: "password", autocomplete: "off", "aria-describedby": describes });
  input.spellcheck = false;
  input.required = true;
  return input;
}

/** @param {HTMLInputElement} input */
function field(input) {
  const hint = "You get it from whoever runs this server. It is kept for this tab only, until you close it.";
  return h(
    "div",
    { class: "field" },
    h("label", { for: input.id }, "Access token"),
    input,
    h("p", { id: "sign-in-hint", class: "hint" }, hint),
  );
}

/**
 * @param {string} pasted
 * @returns {Promise<{token: string | null, problem: string}>}
 */
async function checked(pasted) {
  const token = tokenIn(pasted);
  if (!token) return { token: null, problem: WRONG };
  try {
    await createApi({ token: () => token, onSignedOut: () => {} }).get(PROOF, { query: { limit: 1 } });
    return { token, problem: "" };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { token: null, problem: error.status === 401 ? WRONG : error.message };
  }
}
