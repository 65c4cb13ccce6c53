import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { FailedQuery, hasFailed } from '../../../../web/shared/errors.tsx'
import { Badge } from '../../../../web/ui/badge.tsx'
import { Button } from '../../../../web/ui/button.tsx'
import { useText } from '../../../../web/ui/language.ts'
import { More } from '../../../../web/ui/lists/more.tsx'
import { SkeletonRows } from '../../../../web/ui/states.tsx'
import { toast } from '../../../../web/ui/toast.tsx'
import { api, ok } from '../../api/client.ts'
import { Moment } from './moment.tsx'
import { recipientsQuery, type Sequence, type SequenceRecipient, useChange } from './queries.ts'
import { sequencesText } from './sequences.text.ts'
import { StepCell, StepRow, StepTable } from './step-table.tsx'

type Given = { sequence: Sequence; isReadOnly: boolean }

/** Everybody the sequence was approved for, with their state, their next mail and why they left. */
export function Recipients({ sequence, isReadOnly }: Given) {
  const text = useText(sequencesText)
  const query = useInfiniteQuery(recipientsQuery(sequence))
  if (query.isPending) return <SkeletonRows rows={8} />
  if (hasFailed(query)) return <FailedQuery error={query.error} onRetry={() => query.refetch()} />
  const recipients = query.data.pages.flatMap((page) => page.recipients)
  if (recipients.length === 0) return <p className="p-5 text-muted">{text.no_recipients}</p>
  return (
    <>
      <StepTable sequence={sequence} head={text.recipient}>
        {recipients.map((one) => (
          <Row key={one.email} one={one} sequence={sequence} isReadOnly={isReadOnly} />
        ))}
      </StepTable>
      <More query={query} />
    </>
  )
}

function Row({ one, sequence, isReadOnly }: Given & { one: SequenceRecipient }) {
  const text = useText(sequencesText)
  const name = one.stop_reason === 'erased' ? text.erased : (one.name ?? one.email)
  const takeOut = useChange(
    sequence,
    (ref) => ok(api.POST('/api/cockpit/sequence/take_out', { body: { ...ref, email: one.email } })),
    () => toast(text.taken_out(name)),
  )
  const tone = one.state === 'active' ? 'good' : 'plain'
  const label =
    one.state === 'active' ? text.active : one.state === 'done' ? text.done : (one.stopped ?? '')
  return (
    <StepRow sequence={sequence}>
      <StepCell sequence={sequence} isFirst>
        <span className="flex flex-wrap items-center gap-x-2">
          {one.lead_id ? (
            <Link
              href={`/p/${sequence.project}/leads?lead=${one.lead_id}`}
              className="text-accent-text hover:underline"
            >
              {name}
            </Link>
          ) : (
            name
          )}
          <Badge tone={tone}>{label}</Badge>
          {one.state === 'active' && !isReadOnly ? (
            <Button
              size="sm"
              variant="ghost"
              className="ml-auto"
              aria-label={`${text.take_out}: ${name}`}
              isPending={takeOut.isPending}
              onClick={() => takeOut.mutate()}
            >
              {text.take_out}
            </Button>
          ) : null}
        </span>
        {one.name ? <span className="block text-sm text-muted">{one.email}</span> : null}
        {one.wait_until ? (
          <span className="block text-sm text-muted">
            {text.away} <Moment at={one.wait_until} />
          </span>
        ) : null}
      </StepCell>
      {sequence.steps.map(({ id, step }) => {
        const mail = one.mails.find((each) => each.step === step)
        const at = mail?.sent_at ?? mail?.due_at
        const known = mail && Object.hasOwn(text.mails, mail.state)
        const said = known ? text.mails[mail.state as keyof typeof text.mails] : null // safe: just looked up
        const isShown = mail?.sent_at || said || at || mail?.reason
        return isShown ? (
          <StepCell key={id} sequence={sequence} step={step}>
            {mail?.sent_at ? text.mails.sent : said} {at ? <Moment at={at} /> : null}
            {mail?.reason && mail.state !== 'skipped' ? (
              <span className="block max-w-60 text-muted">{mail.reason}</span>
            ) : null}
          </StepCell>
        ) : (
          <StepCell key={id} sequence={sequence}>
            {null}
          </StepCell>
        )
      })}
    </StepRow>
  )
}
