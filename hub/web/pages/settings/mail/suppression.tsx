import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import {
  ApiForm,
  errorMessage,
  FailedQuery,
  hasFailed,
  useToastError,
} from '../../../../../web/shared/errors.tsx'
import { Button } from '../../../../../web/ui/button.tsx'
import { ConfirmByName } from '../../../../../web/ui/confirm.tsx'
import { Input, Textarea } from '../../../../../web/ui/field.tsx'
import { FormError, FormField, Notice, Submit } from '../../../../../web/ui/form.tsx'
import { localeOf, useLanguage, useText } from '../../../../../web/ui/language.ts'
import { Actions } from '../../../../../web/ui/layer.tsx'
import { More } from '../../../../../web/ui/lists/more.tsx'
import { Table, Td, Th } from '../../../../../web/ui/lists/table.tsx'
import { SkeletonRows } from '../../../../../web/ui/states.tsx'
import { absolute, Time } from '../../../../../web/ui/time.tsx'
import { toast } from '../../../../../web/ui/toast.tsx'
import { useWords } from '../../../../../web/ui/words.tsx'
import { api, ok } from '../../../api/client.ts'
import { useIsReadOnly } from '../../../api/queries.ts'
import { peopleText } from '../people/people.text.ts'
import { Card, Section } from '../section.tsx'
import { mailText } from './mail.text.ts'

const KEY = ['settings', 'suppression']
const PAGE = 50

/** The people who never get mail again. Only a bounce can be released. */
export function Suppression() {
  const { suppression: text } = useText(mailText)
  return (
    <Section title={text.title} text={text.text}>
      <Check />
      <Add />
      <List />
    </Section>
  )
}

function Check() {
  const { suppression: text } = useText(mailText)
  const { suppression: more } = useText(peopleText)
  const queryClient = useQueryClient()
  const say = useToastError()
  const [found, setFound] = useState<string>()
  const [bounced, setBounced] = useState<string>()
  const takeBack = useMutation({
    mutationFn: (email: string) =>
      ok(api.POST('/api/cockpit/suppression/release', { body: { email } })),
    onSuccess: (_, email) => {
      toast(text.taken_back(email))
      setBounced(undefined)
      setFound(text.is_off(email))
    },
    onError: say,
    onSettled: () => queryClient.invalidateQueries({ queryKey: KEY }),
  })
  return (
    <Card>
      <ApiForm
        onSubmit={async ({ email = '' }) => {
          const params = { query: { email, limit: 1 } }
          const { suppression } = await ok(api.GET('/api/cockpit/suppression', { params }))
          const [entry] = suppression
          setBounced(entry?.releasable ? email : undefined)
          const isBounced = entry?.reason === 'bounced'
          const isOn = isBounced
            ? text.has_bounced(email)
            : entry?.releasable
              ? more.is_ours(email)
              : text.is_on(email)
          setFound(suppression.length > 0 ? isOn : text.is_off(email))
        }}
      >
        <div className="flex items-end gap-2">
          <FormField name="email" label={text.find} className="flex-1">
            <Input inputMode="email" maxLength={320} />
          </FormField>
          <Submit variant="secondary">{text.check}</Submit>
        </div>
        <FormError className="mt-3" />
        {found ? <Notice className="mt-3" text={found} /> : null}
        {bounced ? (
          <Button
            className="mt-3"
            isPending={takeBack.isPending}
            onClick={() => takeBack.mutate(bounced)}
          >
            {text.take_back}
          </Button>
        ) : null}
      </ApiForm>
    </Card>
  )
}

function Add() {
  const { suppression: text } = useText(mailText)
  const { suppression: more } = useText(peopleText)
  const queryClient = useQueryClient()
  const [written, setWritten] = useState('')
  const [invalid, setInvalid] = useState<string[]>([])
  return (
    <Card>
      <ApiForm
        className="flex flex-col gap-4"
        onSubmit={async ({ note }) => {
          const body = { text: written, ...(note ? { note } : {}) }
          const done = await ok(api.POST('/api/cockpit/suppression/import', { body }))
          toast(text.added(done.added, done.known))
          setInvalid(done.invalid)
          setWritten('')
          await queryClient.invalidateQueries({ queryKey: KEY })
        }}
      >
        <FormField name="text" label={text.add} hint={text.add_hint}>
          <Textarea
            rows={4}
            className="font-mono text-sm!"
            spellCheck={false}
            value={written}
            onChange={(event) => setWritten(event.target.value)}
          />
        </FormField>
        <FormField name="note" label={more.note} hint={more.note_hint} isOptional>
          <Input maxLength={300} />
        </FormField>
        {invalid.length > 0 ? (
          <Notice tone="warn" text={text.invalid(invalid.slice(0, 10).join(', '))} />
        ) : null}
        <FormError />
        <Actions className="mt-0">
          <Submit disabled={written.trim().length < 3}>{text.submit}</Submit>
        </Actions>
      </ApiForm>
    </Card>
  )
}

function List() {
  const { suppression: text } = useText(mailText)
  const { suppression: more } = useText(peopleText)
  const language = useLanguage()
  const words = useWords()
  const isReadOnly = useIsReadOnly()
  const queryClient = useQueryClient()
  const [leaving, setLeaving] = useState<string | null>(null)
  const takeBack = useMutation({
    mutationFn: (email: string) =>
      ok(api.POST('/api/cockpit/suppression/release', { body: { email } })),
    onSuccess: async (_, email) => {
      await queryClient.invalidateQueries({ queryKey: KEY })
      setLeaving(null)
      toast(text.taken_back(email))
    },
  })
  const query = useInfiniteQuery({
    queryKey: KEY,
    queryFn: ({ pageParam }) =>
      ok(
        api.GET('/api/cockpit/suppression', {
          params: { query: { limit: PAGE, ...(pageParam ? { cursor: pageParam } : {}) } },
        }),
      ),
    initialPageParam: '',
    getNextPageParam: ({ next_cursor }) => next_cursor,
  })
  if (query.isPending) return <SkeletonRows rows={5} />
  if (hasFailed(query)) return <FailedQuery error={query.error} onRetry={() => query.refetch()} />
  const rows = query.data.pages.flatMap((page) => page.suppression)
  const total = query.data.pages[0]?.total ?? 0
  if (rows.length === 0) return <p className="text-muted">{text.empty}</p>
  return (
    <Card title={text.total(total)}>
      <div className="-mx-4 overflow-x-auto md:-mx-5">
        <Table>
          <thead>
            <tr>
              <Th className="bg-surface pl-5">{more.address}</Th>
              <Th className="bg-surface">{text.reason}</Th>
              <Th className="bg-surface max-md:hidden">{text.since}</Th>
              <Th className="bg-surface" />
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={row.email_hash} className="last:[&>td]:border-b-0">
                <Td className="max-w-64 pl-5 break-all">
                  {row.email ?? (
                    <span className="font-mono text-sm text-muted">
                      {row.email_hash.slice(0, 12)}
                    </span>
                  )}
                  <span className="block text-xs break-words text-muted">
                    {row.email && row.email_until
                      ? more.until(absolute(row.email_until, localeOf(language)))
                      : more.hidden}
                  </span>
                </Td>
                <Td>
                  {text.reasons[row.reason]}
                  {row.note ? <span className="block text-xs text-muted">{row.note}</span> : null}
                </Td>
                <Td className="max-md:hidden">
                  <Time at={row.created_at} />
                </Td>
                <Td className="pr-5 text-right">
                  {row.email && row.releasable ? (
                    <Button size="sm" disabled={isReadOnly} onClick={() => setLeaving(row.email)}>
                      {more.back}
                    </Button>
                  ) : null}
                </Td>
              </tr>
            ))}
          </tbody>
        </Table>
      </div>
      <More query={query} className="pb-0" />
      {leaving ? (
        <ConfirmByName
          title={more.back_title}
          text={more.back_text}
          label={`${more.type}: ${leaving}`}
          name={leaving}
          action={more.back}
          failure={takeBack.isError ? errorMessage(takeBack.error, words) : undefined}
          isPending={takeBack.isPending}
          onConfirm={() => takeBack.mutate(leaving)}
          onClose={() => setLeaving(null)}
        />
      ) : null}
    </Card>
  )
}
