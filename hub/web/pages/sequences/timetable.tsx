import { useInfiniteQuery } from '@tanstack/react-query'
import { FailedQuery, hasFailed } from '../../../../web/shared/errors.tsx'
import { useText } from '../../../../web/ui/language.ts'
import { More } from '../../../../web/ui/lists/more.tsx'
import { SkeletonRows } from '../../../../web/ui/states.tsx'
import { Moment } from './moment.tsx'
import { type Planned, type Sequence, timetableQuery } from './queries.ts'
import { sequencesText } from './sequences.text.ts'
import { StepCell, StepRow, StepTable } from './step-table.tsx'

/** When each mail would go to each recipient, if nobody replied. */
export function Timetable({ sequence }: { sequence: Sequence }) {
  const text = useText(sequencesText)
  const query = useInfiniteQuery(timetableQuery(sequence))
  if (query.isPending) return <SkeletonRows rows={8} />
  if (hasFailed(query)) return <FailedQuery error={query.error} onRetry={() => query.refetch()} />
  const recipients = query.data.pages.flatMap((page) => page.recipients)
  if (recipients.length === 0) return <p className="p-5 text-muted">{text.nobody}</p>
  return (
    <>
      <StepTable sequence={sequence} head={text.recipient}>
        {recipients.map((one) => (
          <StepRow key={one.email} sequence={sequence}>
            <StepCell sequence={sequence} isFirst>
              <span className="block">{one.name ?? one.email}</span>
              {one.name ? <span className="block text-sm text-muted">{one.email}</span> : null}
              {one.left_out ? null : <Zone person={one} />}
            </StepCell>
            {one.left_out ? (
              <StepCell sequence={sequence} colSpan={sequence.steps.length}>
                <span className="text-muted">{`${text.left_out}: ${one.left_out}`}</span>
              </StepCell>
            ) : (
              one.planned.map((at, index) => (
                <StepCell
                  key={sequence.steps[index]?.id ?? index}
                  sequence={sequence}
                  step={index + 1}
                >
                  {at ? <Moment at={at} /> : <span className="text-muted">{text.went}</span>}
                </StepCell>
              ))
            )}
          </StepRow>
        ))}
      </StepTable>
      <More query={query} />
    </>
  )
}

function Zone({ person }: { person: Planned }) {
  const text = useText(sequencesText)
  const [first = '', ...others] = person.time_zones
  const zone = others.length > 0 ? text.zones(first, others.length) : first
  return (
    <span className="block text-sm text-muted" title={person.time_zones.join(', ')}>
      {`${zone} · ${text.zone_source[person.zone_source]}`}
    </span>
  )
}
