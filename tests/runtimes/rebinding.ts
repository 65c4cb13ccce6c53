/**
 * Saves a webhook at a name whose answer is public, and sends to it three times after its answer has become this machine,
 * also beside a public one. Run by Node and by Deno.
 */
import { checkPlainHttp } from '../../functions/channels/transport/plain-http.ts'
import { nodeSend } from '../../functions/channels/transport/send-node.ts'
import { parseAllowList } from '../../functions/channels/transport/target.ts'
import { webhook } from '../../functions/channels/webhook.ts'

const url = `https://rebinding.example.org:${process.argv[2]}/`
const allow = parseAllowList('')
const answers = [['127.0.0.1'], ['93.184.215.14', '127.0.0.1'], ['::ffff:127.0.0.1']]
let asked = 0
const send = nodeSend({ allow, resolve: async () => answers[asked++] ?? [], timeout_ms: 5000 })
const saved = [
  ...webhook.check({ target: url, config: null, allow }),
  ...(await checkPlainHttp(url, { allow, resolve: async () => ['93.184.215.14'] })),
]
const failures: string[] = []
for (const _ of answers) {
  const result = await send({ url, method: 'POST', headers: {}, body: '{}' })
  failures.push(result.ok ? 'sent' : result.failure)
}
process.stdout.write(JSON.stringify({ saved, failures, asked }))
