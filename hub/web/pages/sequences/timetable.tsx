import { useInfiniteQuery } from '@tanstack/react-query'
import { FailedQuery } from '../../../../web/shared/errors.tsx'
import { useText } from '../../../../web/ui/language.ts'
import { More } from '../../../../web/ui/lists/more.tsx'
import { Table, Td, Th } from '../../../../web/ui/lists/table.tsx'
import { SkeletonRows } from '../../../../web/ui/states.tsx'
import { Moment } from './moment.tsx'
import { type Planned, type Sequence, timetableQuery } from './queries.ts'
import { sequencesText } from './sequences.text.ts'

/** When each mail would go to each recipient, if nobody replied. */
export function Timetable({ sequence }: { sequence: Sequence }) {
  const text = useText(sequencesText)
  const query = useInfiniteQuery(timetableQuery(sequence))
  if (query.isPending) return <SkeletonRows rows={8} />
  if (query.isError) return <FailedQuery error={query.error} onRetry={() => query.refetch()} />
  const recipients = query.data.pages.flatMap((page) => page.recipients)
  if (recipients.length === 0) return <p className="p-5 text-muted">{text.nobody}</p>
  return (
    <div className="overflow-x-auto">
      <Table>
        <thead>
          <tr>
            <Th>{text.recipient}</Th>
            <Th>{text.zone}</Th>
            {sequence.steps.map(({ id, step }) => (
              <Th key={id}>{text.step(step)}</Th>
            ))}
          </tr>
        </thead>
        <tbody>
          {recipients.map((one) => (
            <tr key={one.email} className="border-b border-line align-top">
              <Td>
                <span className="block">{one.name ?? one.email}</span>
                {one.name ? <span className="block text-sm text-muted">{one.email}</span> : null}
              </Td>
              {one.left_out ? (
                <td colSpan={sequence.steps.length + 1} className="px-3 py-2 text-muted">
                  {`${text.left_out}: ${one.left_out}`}
                </td>
              ) : (
                <>
                  <Td>
                    <Zone person={one} />
                  </Td>
                  {one.planned.map((at, step) => (
                    <Td key={sequence.steps[step]?.id ?? step}>
                      {at ? <Moment at={at} /> : <span className="text-muted">{text.went}</span>}
                    </Td>
                  ))}
                </>
              )}
            </tr>
          ))}
        </tbody>
      </Table>
      <More query={query} />
    </div>
  )
}

function Zone({ person }: { person: Planned }) {
  const text = useText(sequencesText)
  const [first = '', ...others] = person.time_zones
  return (
    <span title={person.time_zones.join(', ')}>
      <span className="block">{others.length > 0 ? text.zones(first, others.length) : first}</span>
      <span className="block text-sm text-muted">{text.zone_source[person.zone_source]}</span>
    </span>
  )
}
