import { FileSearch } from 'lucide-react'
import { useText } from '../../../../web/ui/language.ts'
import { Time } from '../../../../web/ui/time.tsx'
import { Source } from '../../source.tsx'
import { leadsText } from './leads.text.ts'
import type { LeadWhole } from './queries.ts'

type Row = LeadWhole['evidence'][number]

/** The facts about a lead with their sources: mails may claim nothing else. */
export function Evidence({ evidence }: { evidence: LeadWhole['evidence'] }) {
  const { panel: text } = useText(leadsText)
  if (evidence.length === 0) return <p className="p-5 text-muted text-pretty">{text.no_evidence}</p>
  const listed = evidence.filter(({ column }) => column !== null)
  return (
    <>
      {listed.length > 0 ? <Listed rows={listed} /> : null}
      <ul className="flex flex-col gap-5 p-5">
        {evidence
          .filter(({ column }) => column === null)
          .map((row) => (
            <li key={row.id} className="flex gap-3">
              <FileSearch size={16} className="mt-0.5 shrink-0 text-muted" aria-hidden />
              <div className="min-w-0">
                <p className="break-words">{row.fact}</p>
                <Quote of={row} />
                <Origin row={row} />
              </div>
            </li>
          ))}
      </ul>
    </>
  )
}

/** The words of the source; of a long cell or row of a list, all of it. */
function Quote({ of: { quote } }: { of: Row }) {
  if (!quote) return null
  return (
    <blockquote className="mt-1 max-h-60 overflow-y-auto border-l-2 border-line pl-3 font-mail text-muted whitespace-pre-line break-words">
      {quote}
    </blockquote>
  )
}

/** What imported lists say, by the names of their columns. */
function Listed({ rows }: { rows: Row[] }) {
  const { panel: text } = useText(leadsText)
  return (
    <section className="border-b border-line p-5">
      <h3 className="mb-3 text-sm text-muted">{text.listed}</h3>
      <dl className="flex flex-col gap-3">
        {[...rows].reverse().map((row) => (
          <div key={row.id}>
            <dt className="text-sm text-muted break-words">{row.column}</dt>
            <dd>
              <p className="break-words">{row.fact.slice((row.column ?? '').length + 2)}</p>
              <Quote of={row} />
              <Origin row={row} />
            </dd>
          </div>
        ))}
      </dl>
    </section>
  )
}

function Origin({ row }: { row: Row }) {
  return (
    <p className="mt-1 flex flex-wrap gap-x-2 text-sm text-muted">
      <Source source={row.source} />
      <Time at={row.created_at} />
    </p>
  )
}
