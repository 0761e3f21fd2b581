// Sends one message to the server as a JavaScript client would, and prints what streamed and what was kept.
import { Client } from "@langchain/langgraph-sdk";

const [url, message] = process.argv.slice(2);
const client = new Client({ apiUrl: url });
const { thread_id: threadId } = await client.threads.create();

let text = "";
const input = { messages: [{ role: "human", content: message }] };
for await (const event of client.runs.stream(threadId, "agent", { input, streamMode: "messages-tuple" })) {
  if (event.event === "messages" && event.data[0].type === "AIMessageChunk") text += event.data[0].content;
}
const { values } = await client.threads.getState(threadId);
console.log(JSON.stringify({ text, kept: values.messages.map((kept) => kept.content) }));
