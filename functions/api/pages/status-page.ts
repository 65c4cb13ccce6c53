import type { OpenAPIHono } from '@hono/zod-openapi'
import { html } from 'hono/html'
import type { Env } from '../../context.ts'
import { pageHtml, STYLE } from '../../page.ts'
import {
  CACHE_SECONDS,
  limitAddress,
  listSources,
  overallStatus,
  type SourceHealth,
} from '../sources.ts'

const REFRESH_SECONDS = 60
const STATES = {
  ok: { shape: '●', word: 'Working' },
  stale: { shape: '▲', word: 'Silent' },
  down: { shape: '◆', word: 'Failing' },
  disabled: { shape: '○', word: 'Off' },
} as const

/** Serves /status: the health of the sources for people, without an account and without a script. */
export function mountStatusPage(app: OpenAPIHono<Env>): void {
  app.get('/status', async (c) => {
    limitAddress(c)
    const sources = await listSources(c)
    c.header('Cache-Control', `public, max-age=${CACHE_SECONDS}`)
    const now = new Date()
    return c.html(
      pageHtml({
        title: titleOf(sources),
        main: String(await contentOf(sources, now)),
        stylesheet: 'status/page.css',
        refresh_seconds: REFRESH_SECONDS,
      }),
    )
  })
  app.get('/status/page.css', (c) =>
    c.body(STYLE + TABLE_STYLE, 200, { 'Content-Type': 'text/css' }),
  )
}

function titleOf(sources: SourceHealth[] | undefined): string {
  if (!sources) return 'Watchpost cannot reach its database'
  const enabled = sources.filter(({ status }) => status !== 'disabled')
  if (enabled.length === 0) return 'Watchpost polls no source'
  if (overallStatus(sources) === 'ok') return 'All sources are working'
  const troubled = enabled.filter(({ status }) => status !== 'ok').length
  return `${troubled} of ${enabled.length} sources ${troubled === 1 ? 'has' : 'have'} a problem`
}

function contentOf(sources: SourceHealth[] | undefined, now: Date) {
  if (!sources) {
    return html`<p role="alert">Nothing can be said about the sources, and no alerts are sent, until it is back.</p>
${footer(now)}`
  }
  return html`<table>
<thead><tr><th scope="col">Source</th><th scope="col">State</th><th scope="col">Last event</th><th scope="col">Last answer</th><th scope="col">Events in 24 h</th><th scope="col">Delay, median</th><th scope="col">Delivery, median</th></tr></thead>
<tbody>
${sources.map((source) => row(source, now))}
</tbody>
</table>
${footer(now)}`
}

function row({ title, source, status, error, ...health }: SourceHealth, now: Date) {
  const { shape, word } = STATES[status]
  return html`<tr>
<th scope="row">${title}<br><code>${source}</code></th>
<td><span class="state"><span aria-hidden="true">${shape}</span> ${word}</span>${error ? html`<br><small>${error}</small>` : ''}</td>
<td>${age(health.last_event_at, now)}</td>
<td>${age(health.last_success_at, now)}</td>
<td>${health.events_24h.toLocaleString('en')}${rejected(health)}</td>
<td>${median(health.latency_seconds)}</td>
<td>${median(health.delivery_seconds)}</td>
</tr>
`
}

function rejected({
  rejected_24h,
  rejected_reason,
}: Pick<SourceHealth, 'rejected_24h' | 'rejected_reason'>) {
  if (rejected_24h === 0) return ''
  return html`<br><small>${rejected_24h.toLocaleString('en')} rejected: ${rejected_reason}</small>`
}

function median({ p50 }: SourceHealth['latency_seconds']): string {
  return p50 === null ? '–' : duration(p50)
}

function footer(now: Date) {
  const at = now.toISOString()
  return html`<p>As of <time datetime="${at}">${at.slice(0, 16).replace('T', ' ')} UTC</time>, renewed every minute. Silent means that the source answers but sends nothing that can be used. Delay is the time from an event until it was stored, delivery the time from then until a channel accepted the alert. Programs read <a href="api/sources/health">the same as JSON</a>.</p>`
}

function age(time: string | null, now: Date) {
  if (time === null) return 'never'
  const seconds = Math.max(0, (now.getTime() - Date.parse(time)) / 1000)
  return html`<time datetime="${time}" title="${time}">${duration(seconds)} ago</time>`
}

/** A duration in its largest whole unit, e.g. `3 h`. */
function duration(seconds: number): string {
  const [size, unit] = (
    [
      [86_400, 'd'],
      [3600, 'h'],
      [60, 'min'],
    ] as const
  ).find(([size]) => seconds >= 2 * size) ?? [1, 's']
  return `${Math.floor(seconds / size)} ${unit}`
}

const TABLE_STYLE = `main { max-width: 60rem; }
table { width: 100%; border-collapse: collapse; font-size: 0.875rem; font-variant-numeric: tabular-nums; }
th, td { padding: 0.5rem 0.75rem; text-align: start; vertical-align: top; border-bottom: 1px solid var(--line); }
thead th, tbody th { font-weight: 500; }
thead th:nth-child(-n + 2) { width: 30%; }
thead th { vertical-align: bottom; }
.state, td time { white-space: nowrap; }
code, small { color: var(--muted); }
@media (max-width: 40rem) {
  thead { position: absolute; clip-path: inset(50%); }
  tr { display: block; padding-block: 0.75rem; border-bottom: 1px solid var(--line); }
  th, td { display: block; padding: 0.125rem 0; border: 0; }
  td:nth-of-type(2)::before { content: "Last event: "; }
  td:nth-of-type(3)::before { content: "Last answer: "; }
  td:nth-of-type(4)::before { content: "Events in 24 h: "; }
  td:nth-of-type(5)::before { content: "Delay, median: "; }
  td:nth-of-type(6)::before { content: "Delivery, median: "; }
}
`
