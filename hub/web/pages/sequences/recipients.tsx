import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { FailedQuery } from '../../../../web/shared/errors.tsx'
import { Badge } from '../../../../web/ui/badge.tsx'
import { Button } from '../../../../web/ui/button.tsx'
import { useText } from '../../../../web/ui/language.ts'
import { More } from '../../../../web/ui/lists/more.tsx'
import { Table, Td, Th } from '../../../../web/ui/lists/table.tsx'
import { SkeletonRows } from '../../../../web/ui/states.tsx'
import { toast } from '../../../../web/ui/toast.tsx'
import { api, ok } from '../../api/client.ts'
import { Moment } from './moment.tsx'
import { recipientsQuery, type Sequence, type SequenceRecipient, useChange } from './queries.ts'
import { sequencesText } from './sequences.text.ts'

type Given = { sequence: Sequence; isReadOnly: boolean }

/** Everybody the sequence was approved for, with their state, their next mail and why they left. */
export function Recipients({ sequence, isReadOnly }: Given) {
  const text = useText(sequencesText)
  const query = useInfiniteQuery(recipientsQuery(sequence))
  if (query.isPending) return <SkeletonRows rows={8} />
  if (query.isError) return <FailedQuery error={query.error} onRetry={() => query.refetch()} />
  const recipients = query.data.pages.flatMap((page) => page.recipients)
  if (recipients.length === 0) return <p className="p-5 text-muted">{text.no_recipients}</p>
  return (
    <div className="overflow-x-auto">
      <Table>
        <thead>
          <tr>
            <Th>{text.recipient}</Th>
            <Th>{text.state}</Th>
            {sequence.steps.map(({ id, step }) => (
              <Th key={id}>{text.step(step)}</Th>
            ))}
            <Th>
              <span className="sr-only">{text.take_out}</span>
            </Th>
          </tr>
        </thead>
        <tbody>
          {recipients.map((one) => (
            <Row key={one.email} one={one} sequence={sequence} isReadOnly={isReadOnly} />
          ))}
        </tbody>
      </Table>
      <More query={query} />
    </div>
  )
}

function Row({ one, sequence, isReadOnly }: Given & { one: SequenceRecipient }) {
  const text = useText(sequencesText)
  const name = one.name ?? one.email
  const takeOut = useChange(
    sequence,
    (ref) => ok(api.POST('/api/cockpit/sequence/take_out', { body: { ...ref, email: one.email } })),
    () => toast(text.taken_out(name)),
  )
  const tone = one.state === 'active' ? 'good' : 'plain'
  const label =
    one.state === 'active' ? text.active : one.state === 'done' ? text.done : (one.stopped ?? '')
  return (
    <tr className="border-b border-line align-top">
      <Td>
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
        {one.name ? <span className="block text-sm text-muted">{one.email}</span> : null}
      </Td>
      <Td>
        <Badge tone={tone}>{label}</Badge>
        {one.wait_until ? (
          <span className="block text-sm text-muted">
            {text.away} <Moment at={one.wait_until} />
          </span>
        ) : null}
      </Td>
      {sequence.steps.map(({ id, step }) => {
        const mail = one.mails.find((each) => each.step === step)
        const at = mail?.sent_at ?? mail?.due_at
        const known = mail && Object.hasOwn(text.mails, mail.state)
        const said = known ? text.mails[mail.state as keyof typeof text.mails] : null // safe: just looked up
        return (
          <Td key={id}>
            {mail?.sent_at ? <span className="block text-sm">{text.mails.sent}</span> : null}
            {!mail?.sent_at && said ? <span className="block text-sm">{said}</span> : null}
            {at ? <Moment at={at} /> : null}
            {mail?.reason && mail.state !== 'skipped' ? (
              <span className="block max-w-60 text-sm text-muted">{mail.reason}</span>
            ) : null}
          </Td>
        )
      })}
      <Td>
        {one.state === 'active' && !isReadOnly ? (
          <Button
            size="sm"
            aria-label={`${text.take_out}: ${name}`}
            isPending={takeOut.isPending}
            onClick={() => takeOut.mutate()}
          >
            {text.take_out}
          </Button>
        ) : null}
      </Td>
    </tr>
  )
}
