/** The page starts here: ask the server how it is, sign in where that is needed, then show chat and memory. */

import { notify } from "./announce.js";
import { createApi } from "./api.js";
import { startOf } from "./boot.js";
import { ApiError, sentenceOf } from "./errors.js";
import { showLoading, showProblem } from "./gate.js";
import { whenNeeded } from "./loading.js";
import { openPage } from "./page.js";
import { createSession } from "./session.js";

const NO_SIGN_IN = "The sign-in cannot be shown";
const gate = /** @type {HTMLElement} */ (document.getElementById("gate"));
const shell = /** @type {HTMLElement} */ (document.getElementById("shell"));
const skip = /** @type {HTMLElement} */ (document.getElementById("skip"));
const session = createSession(sessionStorage);
const api = createApi({ token: session.token, onSignedOut: signInAgain });

const loadSignIn = whenNeeded(() => import("./sign_in.js"));

/** @type {import("./page.js").Page | null} */
let page = null;

async function start() {
  showLoading(gate);
  const next = startOf({ ...(await health()), isSignedIn: session.token() !== null });
  if (next.show === "problem") showProblem(gate, { ...next, retry: start });
  else if (next.show === "sign-in") signIn(false);
  else open(next.health);
}

async function health() {
  try {
    return { health: await api.get("/api/health"), error: null };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { health: null, error };
  }
}

/** @param {import("./boot.js").Health} known */
function open(known) {
  reveal(true);
  page = openPage({ api, health: known, session });
}

/** @param {boolean} isOpen */
function reveal(isOpen) {
  shell.hidden = skip.hidden = !isOpen;
  gate.hidden = isOpen;
}

/** @param {boolean} hasEnded */
async function signIn(hasEnded) {
  reveal(false);
  try {
    const { showSignIn } = await loadSignIn();
    showSignIn(gate, { hasEnded, accepted: signedIn });
  } catch (error) {
    showProblem(gate, { title: NO_SIGN_IN, text: sentenceOf(error), retry: () => signIn(hasEnded) });
  }
}

/** A refused token is not sent again; what is on the page waits behind the sign-in. */
function signInAgain() {
  if (page && page.app.health.auth_mode === "none") return;
  const wasSignedIn = session.token() !== null;
  session.end();
  page?.app.live.stop();
  for (const dialog of document.querySelectorAll("dialog")) dialog.close();
  if (wasSignedIn || !gate.querySelector("form")) signIn(wasSignedIn);
}

/**
 * Who signs in again goes on where they were. For somebody else, or when that is not known, the page starts anew, so
 * that nobody sees what another was shown; what somebody else typed is forgotten too.
 *
 * @param {string} token
 */
function signedIn(token) {
  const user = session.begin(token);
  if (!page) return start();
  if (user === "same") return goOn();
  if (user === "other") {
    session.forget();
    session.begin(token);
  }
  location.reload();
}

function goOn() {
  reveal(true);
  page?.resume();
}

addEventListener("unhandledrejection", ({ reason }) => {
  if (reason instanceof ApiError && reason.kind !== "unauthenticated") notify({ text: reason.message, kind: "error" });
});

start();
