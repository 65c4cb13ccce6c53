/** What a collector was sent, and a process without the packages of OpenTelemetry. */
import { spawn } from 'node:child_process'
import { z } from 'zod'
import { ROOT } from './pages.ts'
import { TEST_SEAL_KEY } from './service.ts'

const Text = z.object({ key: z.string(), value: z.record(z.string(), z.unknown()) })
const Spans = z.object({
  resourceSpans: z.array(
    z.object({
      resource: z.object({ attributes: z.array(Text) }),
      scopeSpans: z.array(
        z.object({
          spans: z.array(
            z.object({
              traceId: z.string(),
              spanId: z.string(),
              parentSpanId: z.string().optional(),
              name: z.string(),
              attributes: z.array(Text),
              links: z.array(z.object({ traceId: z.string(), spanId: z.string() })).default([]),
              status: z.object({ code: z.number().optional(), message: z.string().optional() }),
            }),
          ),
        }),
      ),
    }),
  ),
})

/** The spans in bodies that were sent to a collector. */
export function spansIn(sent: { body: string }[]) {
  return sent.flatMap(({ body }) =>
    Spans.parse(JSON.parse(body)).resourceSpans.flatMap(({ resource, scopeSpans }) =>
      scopeSpans.flatMap(({ spans }) =>
        spans.map((span) => ({
          ...span,
          service: valuesOf(resource.attributes)['service.name'],
          attributes: valuesOf(span.attributes),
        })),
      ),
    ),
  )
}
export type Recorded = ReturnType<typeof spansIn>

const valuesOf = (attributes: z.infer<typeof Text>[]) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]))

/** The names of a span and of what it goes on from, the first one last. */
export function wayTo(name: string, all: Recorded): string[] {
  const way: string[] = []
  let span = all.find((one) => one.name === name)
  for (; span; span = all.find(({ spanId }) => spanId === span?.parentSpanId)) way.push(span.name)
  return way
}

/** Runs the jobs in a process that has no packages of OpenTelemetry but its API, which prom-client brings. */
export async function runWithout(jobsUrl: string, environment: Record<string, string>) {
  const hook = `import { registerHooks } from 'node:module'
    registerHooks({ resolve(name, context, next) {
      const isMissing = name.startsWith('@opentelemetry/') && name !== '@opentelemetry/api'
      if (!isMissing) return next(name, context)
      throw Object.assign(new Error(name), { code: 'ERR_MODULE_NOT_FOUND' })
    } })`
  const args = ['--import', `data:text/javascript,${encodeURIComponent(hook)}`]
  const child = spawn(process.execPath, [...args, 'functions/node.ts', 'jobs'], {
    cwd: ROOT,
    env: {
      ...{ PATH: process.env.PATH, SEAL_KEYS: TEST_SEAL_KEY, FEEDS: 'none' },
      ...{ JOBS_DATABASE_URL: jobsUrl, ...environment },
    },
  })
  let text = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (part: string) => {
      text += part
      if (text.includes('running the jobs')) child.kill('SIGKILL')
    })
  }
  const code = await new Promise((resolve) => child.once('exit', resolve))
  return { code, text }
}
