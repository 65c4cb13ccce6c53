import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { OperatorFeed } from '../../../shared/schemas/operator.ts'
import { ApiForm, useToastError } from '../../shared/errors.tsx'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Input } from '../../ui/field.tsx'
import { FormError, FormField, Submit } from '../../ui/form.tsx'
import { duration, number, useLanguage, useText } from '../../ui/language.ts'
import { Actions, Dialog } from '../../ui/layer.tsx'
import { Table, Td, Th } from '../../ui/lists/table.tsx'
import { Time } from '../../ui/time.tsx'
import { toast } from '../../ui/toast.tsx'
import { get, post, REFRESH_MS } from '../api.ts'
import { operatorText } from '../operator.text.ts'
import { Found, Scroll } from '../parts.tsx'

const TONES = { ok: 'good', stale: 'warn', down: 'bad', disabled: 'plain' } as const

/** Each source: whether it delivers, how late and how much, and what it said last. */
export function FeedsPage() {
  const text = useText(operatorText)
  const query = useQuery({
    queryKey: ['feeds'],
    queryFn: () => get<{ feeds: OperatorFeed[] }>('feeds'),
    refetchInterval: REFRESH_MS,
  })
  return (
    <Found query={query}>
      {({ feeds }) => (
        <Scroll label={text.pages.feeds}>
          <Table className="[&_td:not(:first-child)]:whitespace-nowrap">
            <thead>
              <tr>
                <Th>{text.source}</Th>
                <Th>{text.state}</Th>
                <Th>{text.last_success}</Th>
                <Th>{text.last_event}</Th>
                <Th className="text-right">{text.lag}</Th>
                <Th className="text-right">{text.events_1h}</Th>
                <Th className="text-right">{text.events_24h}</Th>
                <Th className="text-right">{text.rejected_24h}</Th>
                <Th>
                  <span className="sr-only">{text.actions}</span>
                </Th>
              </tr>
            </thead>
            <tbody>
              {feeds.map((feed) => (
                <FeedRow key={feed.source} feed={feed} />
              ))}
            </tbody>
          </Table>
        </Scroll>
      )}
    </Found>
  )
}

function FeedRow({ feed }: { feed: OperatorFeed }) {
  const text = useText(operatorText)
  const language = useLanguage()
  const trouble = feed.error ?? (feed.rejected_24h > 0 ? feed.rejected_reason : null)
  return (
    <tr className="group" data-numbers>
      <Td className="py-2">
        <code className="font-sans font-medium whitespace-nowrap">{feed.source}</code>
        {trouble ? (
          <code className="block max-w-sm font-sans text-xs break-words text-bad">{trouble}</code>
        ) : null}
      </Td>
      <Td>
        {feed.paused_at ? (
          <Badge tone="warn">{text.paused}</Badge>
        ) : (
          <Badge tone={TONES[feed.status]}>{text.statuses[feed.status]}</Badge>
        )}
      </Td>
      <Td>{feed.last_success_at ? <Time at={feed.last_success_at} /> : text.never}</Td>
      <Td>{feed.last_event_at ? <Time at={feed.last_event_at} /> : text.never}</Td>
      <Td className="text-right">
        {feed.lag_seconds === null ? '–' : duration(language, feed.lag_seconds)}
      </Td>
      <Td className="text-right">{number(language, feed.events_1h)}</Td>
      <Td className="text-right">{number(language, feed.events_24h)}</Td>
      <Td className="text-right">{number(language, feed.rejected_24h)}</Td>
      <Td className="text-right">
        {feed.paused_at ? <Resume source={feed.source} /> : null}
        {feed.enabled && !feed.paused_at ? <Pause source={feed.source} /> : null}
      </Td>
    </tr>
  )
}

function Resume({ source }: { source: string }) {
  const text = useText(operatorText)
  const client = useQueryClient()
  const resume = useMutation({
    mutationFn: () => post(`feeds/${source}/resume`),
    onSuccess: () => {
      toast(text.feed_resumed(source))
      void client.invalidateQueries()
    },
    onError: useToastError(),
  })
  return (
    <Button size="sm" isPending={resume.isPending} onClick={() => resume.mutate()}>
      {text.resume}
    </Button>
  )
}

function Pause({ source }: { source: string }) {
  const text = useText(operatorText)
  const client = useQueryClient()
  const [isAsked, setAsked] = useState(false)
  return (
    <>
      <Button size="sm" variant="ghost" onClick={() => setAsked(true)}>
        {text.pause}
      </Button>
      {isAsked ? (
        <Dialog
          isOpen
          onClose={() => setAsked(false)}
          title={text.pause_title(source)}
          description={text.pause_text}
        >
          <ApiForm
            className="flex flex-col gap-4"
            onSubmit={async ({ reason = '' }) => {
              await post(`feeds/${source}/pause`, { reason })
              toast(text.feed_paused(source))
              setAsked(false)
              void client.invalidateQueries()
            }}
          >
            <FormField name="reason" label={text.reason} hint={text.pause_hint}>
              <Input maxLength={200} />
            </FormField>
            <FormError />
            <Actions className="mt-0">
              <Submit variant="danger">{text.pause}</Submit>
            </Actions>
          </ApiForm>
        </Dialog>
      ) : null}
    </>
  )
}
