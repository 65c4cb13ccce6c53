import type { ReactNode } from 'react'
import type { EvidenceFile, EvidenceRecord } from '../../../shared/evidence/evidence.ts'
import { whyText } from '../../event/why.text.ts'
import { useText } from '../../ui/language.ts'
import { evidenceText } from './evidence.text.ts'

/** A record for reading and for paper: times are UTC, as they stand in the file. */
export function EvidenceSheet({ evidence, signature }: EvidenceFile) {
  const text = useText(evidenceText)
  const { alert, omitted } = evidence
  const { event } = alert
  const { audit: acts = 0 } = omitted
  const hasGaps = omitted.revisions + omitted.footprints + acts > 0
  return (
    <article className="flex flex-col gap-6 text-sm print:gap-3 print:text-xs">
      <header className="flex flex-col gap-1">
        <h2 className="text-lg text-pretty">{event.title}</h2>
        <p className="text-pretty text-muted">{alert.reason}</p>
        <p>{signature ? text.final(evidence.number) : text.preliminary}</p>
        {evidence.because === 'before_purge' ? <p>{text.before_purge}</p> : null}
      </header>
      <Facts
        facts={[
          [text.event, event.id],
          [text.source, alert.attribution ?? alert.source],
          [text.place, `${event.lat}, ${event.lon}`],
          [text.happened, utc(event.ts)],
          [text.zone, alert.zone_name],
          [text.severity, String(alert.severity)],
          [text.raised, utc(alert.raised_at)],
          [text.seen, alert.seen_at && utc(alert.seen_at)],
          [text.resolved, alert.resolved_at && utc(alert.resolved_at)],
          [text.note, alert.note],
          [text.made_at, utc(evidence.made_at)],
          [text.key, signature?.key_id ?? null],
        ]}
      />
      <Decisions evidence={evidence} />
      <Section title={text.revisions}>
        {evidence.revisions.length === 0 ? (
          <p>{text.no_revisions}</p>
        ) : (
          <Grid
            head={[text.first_seen, text.revision, text.severity, text.headline]}
            rows={evidence.revisions.map((one) => [
              utc(one.first_seen_at),
              `${one.event_id} · ${one.revision}`,
              String(one.severity),
              one.title,
            ])}
          />
        )}
        {hasGaps ? (
          <p className="text-muted">{text.omitted(omitted.revisions, omitted.footprints, acts)}</p>
        ) : null}
      </Section>
      <Section title={text.deliveries}>
        {evidence.deliveries.length === 0 ? <p>{text.no_deliveries}</p> : <Told {...evidence} />}
      </Section>
      <Section title={text.audit}>
        {evidence.audit.length === 0 ? (
          <p>{text.no_audit}</p>
        ) : (
          <Grid
            head={[text.at, text.act, text.actor]}
            rows={evidence.audit.map(({ at, action, actor_id }) => [
              utc(at),
              action,
              actor_id ?? text.service,
            ])}
          />
        )}
      </Section>
    </article>
  )
}

function Told({ deliveries }: Pick<EvidenceRecord, 'deliveries'>) {
  const text = useText(evidenceText)
  return (
    <Grid
      head={[text.at, text.message, text.channel, text.attempt, text.answer]}
      rows={deliveries.flatMap((delivery) => {
        const { type, status, channel_kind, created_at, attempts } = delivery
        const message = `${type} · ${status}`
        if (attempts.length === 0) return [[utc(created_at), message, channel_kind, '–', '–']]
        return attempts.map(({ at, attempt, outcome, status_code }) => [
          utc(at),
          message,
          channel_kind,
          String(attempt),
          `${outcome} · ${status_code ?? text.no_answer}`,
        ])
      })}
    />
  )
}

function Decisions({ evidence }: { evidence: EvidenceRecord }) {
  const text = useText(evidenceText)
  const { names } = useText(whyText)
  const known = new Map<unknown, string>(Object.entries(names))
  return (
    <Section title={text.decisions}>
      {evidence.decisions.map(({ event_id, at, zone_version, reason, checks }) => (
        <div key={event_id} className="flex flex-col gap-1">
          <p>
            {utc(at)} · {text.version(zone_version)}
          </p>
          <p className="text-pretty text-muted">{reason}</p>
          <Grid
            head={[text.check_heads.name, text.check_heads.passed, text.check_heads.numbers]}
            rows={checks.map(({ name, passed, ...numbers }) => [
              known.get(name) ?? String(name),
              passed === true ? text.passed : text.failed,
              numbersOf(numbers),
            ])}
          />
        </div>
      ))}
    </Section>
  )
}

/** The numbers of a check as they stand in the record. */
function numbersOf(numbers: Record<string, unknown>): string {
  return Object.entries(numbers)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${name} ${JSON.stringify(value)}`)
    .join(', ')
}

const utc = (at: string) => at.replace('T', ' ').replace(/(\.000)?Z$/, 'Z')

function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="flex flex-col gap-2 print:gap-1">
      <h3>{title}</h3>
      {children}
    </section>
  )
}

function Facts({ facts }: { facts: [name: string, value: string | null][] }) {
  return (
    <dl className="grid grid-cols-[max-content_minmax(0,1fr)] gap-x-4 gap-y-1 sm:grid-cols-[max-content_1fr_max-content_1fr] print:grid-cols-[max-content_1fr_max-content_1fr]">
      {facts.map(([name, value]) =>
        value ? (
          <div key={name} className="contents">
            <dt className="text-muted">{name}</dt>
            <dd className="min-w-0 break-words">{value}</dd>
          </div>
        ) : null,
      )}
    </dl>
  )
}

/** A table; on a phone each row is a list of its cells, each after the name of its column. */
function Grid({ head, rows }: { head: string[]; rows: string[][] }) {
  return (
    <table className="w-full table-auto text-left max-md:not-print:block">
      <thead className="text-xs text-muted max-md:not-print:sr-only">
        <tr>
          {head.map((name) => (
            <th key={name} scope="col" className="pr-3 font-medium break-words">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody className="max-md:not-print:block">
        {rows.map((cells, row) => (
          <tr
            // biome-ignore lint/suspicious/noArrayIndexKey: the rows of a record never change
            key={row}
            className="border-t border-line align-top max-md:not-print:block max-md:not-print:py-1.5"
          >
            {cells.map((cell, column) => (
              <td
                // biome-ignore lint/suspicious/noArrayIndexKey: nor do its columns
                key={column}
                className="py-1 pr-3 break-words [overflow-wrap:anywhere] max-md:not-print:block max-md:not-print:py-0.5"
              >
                <span aria-hidden className="text-muted md:hidden print:hidden">
                  {head[column]}:{' '}
                </span>
                {cell}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}
