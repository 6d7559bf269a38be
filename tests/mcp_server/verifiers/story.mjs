// One session's story told by the TypeScript client: `node story.mjs MODE URL` or `node story.mjs MODE COMMAND ARGS...`. It exits with 1 at the first thing that is not so.
import assert from 'node:assert/strict';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

const [mode, target, ...args] = process.argv.slice(2);
const client = new Client({ name: 'story', version: '1' }, { versionNegotiation: { mode } });
const env = Object.fromEntries(['HOME', 'PATH', 'CTXFOLD_HOME', 'PYTHONPATH'].map((name) => [name, process.env[name] ?? '']));
const transport = target.startsWith('http')
  ? new StreamableHTTPClientTransport(new URL(target))
  : new StdioClientTransport({ command: target, args, env });
await client.connect(transport);

const session = `story-${mode}-${target.startsWith('http') ? 'http' : 'stdio'}`;
const page = '{"train": "TGV 9713",\r\n "price": "49 EUR"}';

async function call(name, given) {
  const result = await client.callTool({ name, arguments: { session, ...given } });
  const text = result.content.map((block) => block.text).join('\n');
  assert(!result.isError, text);
  return { ...result, text };
}

const { tools } = await client.listTools();
assert.deepEqual(tools.map((tool) => tool.name).slice(0, 3), ['open_session', 'record', 'fold']);
assert.match((await call('open_session', { goal: 'Get to Paris.' })).text, /created yes/);
const step = { calls: [{ name: 'trains', id: 't1' }], results: [{ id: 't1', text: page }] };
assert.deepEqual((await call('record', { user: 'By train.', step })).structuredContent.recorded, ['s1']);
await call('record', { reply: 'TGV 9713, 49 EUR.' });
assert.equal((await call('fold', { first_step: 1, summary: 'TGV 9713, 49 EUR.' })).structuredContent.steps, 's1-s2');
assert.match((await call('context', {})).text, /By train\./);
assert.equal((await call('recall', { ref: 's1.3' })).content[1].text, page);
assert.match((await call('recall', { query: 'TGV price' })).text, /s1/);
assert.match((await call('undo', {})).structuredContent.undone, /^the fold of s1-s2/);
const wrong = await client.callTool({ name: 'recall', arguments: { session, ref: 's99' } });
assert(wrong.isError && /Next: /.test(wrong.content[0].text));
const tree = await client.readResource({ uri: `ctxfold://sessions/${session}/tree` });
assert.match(tree.contents[0].text, /s2/);
const briefing = await client.getPrompt({ name: 'handoff', arguments: { session } });
assert.match(briefing.messages[0].content.text, /Get to Paris\./);
await client.close();
console.log(`story told: ${session}`);
process.exit(0);
