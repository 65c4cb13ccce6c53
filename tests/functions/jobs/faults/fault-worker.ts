/**
 * Runs the jobs of the fault run in a process of its own, which the run kills. Every request goes to the receivers of the
 * run on this machine, whichever service it is for.
 */
import type { SendBytes } from '../../../../functions/channels/transport/send.ts'
import { mqttSender } from '../../../../functions/channels/transport/send-mqtt.ts'
import { nodeSend } from '../../../../functions/channels/transport/send-node.ts'
import { createPush } from '../../../../functions/channels/transport/send-push.ts'
import { createPool } from '../../../../functions/db.ts'
import { createRunner } from '../../../../functions/jobs.ts'
import { createSmtp } from '../../../../functions/mail/smtp.ts'
import { createSeal } from '../../../../functions/seal.ts'
import { HERE, type Ports } from './fault-services.ts'

export type Orders = { jobsUrl: string; ports: Ports; seal_key: string }

/** How long a receiver may take here; with the usual 15 seconds the run would take hours. */
const TIMEOUT_MS = 1000

if (import.meta.main) {
  const { jobsUrl, ports, seal_key }: Orders = JSON.parse(process.argv[2] ?? '')
  const db = createPool({ url: jobsUrl, max: 12 })
  const seal = createSeal([seal_key])
  const direct = nodeSend({ allow: HERE, timeout_ms: TIMEOUT_MS })
  const here: SendBytes = (request) =>
    direct({
      ...request,
      url: request.url.replace(/^https:\/\//, `http://127.0.0.1:${ports.http}/`),
    })
  const contact = 'faults@watchpost.test'
  const smtp = { host: '127.0.0.1', port: ports.smtp, tls: 'none' } as const
  const mail = createSmtp(smtp, {
    from: { name: 'Watchpost', address: contact },
    timeout_ms: TIMEOUT_MS,
  })
  for (;;) {
    // A new runner each turn: its first tick supervises, which is what ends lost leases.
    const runner = createRunner({
      db,
      seal,
      send: here,
      mail,
      mqtt: mqttSender({ allow: HERE, timeout_ms: TIMEOUT_MS }),
      push: createPush({ seal, contact, public_url: null }, here),
      allow: HERE,
      feeds: [],
      fetch,
      public_url: null,
      contact,
      log: (line) => {
        if (line.outcome === 'failed') console.error(JSON.stringify(line))
      },
    })
    // The database may be away: that is what this is about.
    await runner.drain({ budget_ms: 2000 }).catch(() => undefined)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
