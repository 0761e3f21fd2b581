// Deleting a chat: what goes, what stays, and whether what was remembered of it goes too.

const TEXT = "The chat, its messages and its thread summaries are deleted. This cannot be undone.";

/**
 * @param {import("../app/app.js").App} app
 * @param {string} name
 * @returns {Promise<null | {memories: boolean}>} null when it was cancelled
 */
export async function askWhatGoes(app, name) {
  const answer = await app.dialogs.confirm({
    title: `Delete “${app.format.shorten(name, 60)}”?`,
    text: TEXT,
    confirm: "Delete chat",
    danger: true,
    choices: [
      {
        value: "keep",
        label: "Keep what was remembered",
        hint: "Notes and past conversations from this chat stay, and so does what is known about you.",
        checked: true,
      },
      {
        value: "erase",
        label: "Erase notes and past conversations of this chat too",
        hint: "What is known about you stays; it can be deleted under Memory.",
      },
    ],
  });
  return answer && { memories: answer.choice === "erase" };
}
