import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Send } from 'lucide-react'
import { useState } from 'react'
import { useToastError } from '../../../../web/shared/errors.tsx'
import { Button } from '../../../../web/ui/button.tsx'
import { Choice, Field, Textarea } from '../../../../web/ui/field.tsx'
import { Notice } from '../../../../web/ui/form.tsx'
import { useText } from '../../../../web/ui/language.ts'
import { toast } from '../../../../web/ui/toast.tsx'
import { api, ok } from '../../api/client.ts'
import { inboxText } from './inbox.text.ts'
import { type InboxDetail, inboxMailQuery, randomId, refreshInbox } from './queries.ts'

/** What was typed and not sent, while somebody goes through the list. */
const typed = new Map<string, string>()

/** The answer to a mail. It goes out once: the id stays the same until the hub has said what became of it. */
export function AnswerForm({ detail, isReadOnly }: { detail: InboxDetail; isReadOnly: boolean }) {
  const { answer: text } = useText(inboxText)
  const { mail, answering } = detail
  const [value, setValue] = useState(typed.get(mail.id) ?? '')
  const [isQuoting, setQuoting] = useState(false)
  const [answer_id, setAnswerId] = useState(randomId)
  const queryClient = useQueryClient()
  const say = useToastError()
  const write = (next: string) => {
    setValue(next)
    typed.set(mail.id, next)
  }
  const send = useMutation({
    mutationFn: () =>
      ok(
        api.POST('/api/cockpit/inbox/answer', {
          body: { id: mail.id, answer_id, text: value, with_quote: isQuoting },
        }),
      ),
    onSuccess: (after) => {
      const state = after.thread.find(({ id }) => id === answer_id)?.state
      setAnswerId(randomId())
      queryClient.setQueryData(inboxMailQuery(mail.id).queryKey, after)
      if (state === 'failed') return toast(text.failed, { kind: 'failed' })
      write('')
      toast(state === 'sent' ? text.sent : text.unclear, {
        kind: state === 'sent' ? 'done' : 'failed',
      })
    },
    onError: say,
    onSettled: () => refreshInbox(queryClient),
  })
  if (answering.closed) {
    return (
      <div className="px-4 pb-6 md:px-6">
        <Notice tone="warn" text={answering.closed} />
      </div>
    )
  }
  return (
    <form
      aria-label={text.label}
      className="mt-auto flex flex-col gap-3 border-t border-line px-4 py-4 md:px-6"
      onSubmit={(event) => {
        event.preventDefault()
        if (value.trim() !== '') send.mutate()
      }}
    >
      <p className="text-sm text-muted break-words">
        {text.to}: {answering.to} · {text.from}: {answering.from}
      </p>
      <Field label={text.text} hint={text.hint} className="max-w-2xl">
        <Textarea
          value={value}
          rows={4}
          maxLength={20_000}
          disabled={isReadOnly}
          className="font-mail text-lg!"
          onChange={(event) => write(event.target.value)}
        />
      </Field>
      <div className="flex max-w-2xl flex-wrap items-center gap-3">
        <Choice label={text.quote} isOn={isQuoting} onChange={setQuoting} />
        <Button
          type="submit"
          variant="primary"
          className="ml-auto"
          disabled={isReadOnly || value.trim() === ''}
          isPending={send.isPending}
          icon={<Send size={14} aria-hidden />}
        >
          {text.send}
        </Button>
      </div>
    </form>
  )
}
