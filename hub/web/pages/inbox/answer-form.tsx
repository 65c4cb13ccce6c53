import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Send } from 'lucide-react'
import { useState } from 'react'
import { useToastError } from '../../../../web/shared/errors.tsx'
import { Button } from '../../../../web/ui/button.tsx'
import { Choice, Field, Textarea } from '../../../../web/ui/field.tsx'
import { Notice } from '../../../../web/ui/form.tsx'
import { useText } from '../../../../web/ui/language.ts'
import { toast } from '../../../../web/ui/toast.tsx'
import { api, ok, ProblemError } from '../../api/client.ts'
import { useTyped } from '../../typed.ts'
import { inboxText } from './inbox.text.ts'
import { type InboxDetail, inboxMailQuery, randomId, refreshInbox } from './queries.ts'

/**
 * The id of the answer to each mail: it stays the same until the hub has said what became of it, also while somebody
 * looks at other mails, so that the answer goes out once.
 */
const ids = new Map<string, string>()

function idOf(mail_id: string): string {
  const id = ids.get(mail_id) ?? randomId()
  ids.set(mail_id, id)
  return id
}

/** The answer to a mail. */
export function AnswerForm({ detail, isReadOnly }: { detail: InboxDetail; isReadOnly: boolean }) {
  const { answer: text } = useText(inboxText)
  const { mail, answering } = detail
  const { typed, write, sent } = useTyped(`answer ${mail.id}`)
  const [isQuoting, setQuoting] = useState(false)
  const queryClient = useQueryClient()
  const say = useToastError()
  const send = useMutation({
    mutationFn: (given: { answer_id: string; text: string }) =>
      ok(
        api.POST('/api/cockpit/inbox/answer', {
          body: { id: mail.id, with_quote: isQuoting, ...given },
        }),
      ),
    onSuccess: (after, { answer_id, text: given }) => {
      const state = after.thread.find(({ id }) => id === answer_id)?.state
      if (ids.get(mail.id) === answer_id) ids.delete(mail.id)
      queryClient.setQueryData(inboxMailQuery(mail.id).queryKey, after)
      if (state === 'failed') return toast(text.failed, { kind: 'failed' })
      sent(given)
      toast(state === 'sent' ? text.sent : text.unclear, {
        kind: state === 'sent' ? 'done' : 'failed',
      })
    },
    onError: (error) => {
      // Refused: the next one is another answer.
      if (error instanceof ProblemError && error.problem.status < 500) ids.delete(mail.id)
      say(error)
    },
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
        if (typed.trim() === '' || send.isPending) return
        send.mutate({ answer_id: idOf(mail.id), text: typed })
      }}
    >
      <p className="text-sm text-muted break-words">
        {text.to}: {answering.to} · {text.from}: {answering.from}
      </p>
      <Field label={text.text} hint={text.hint} className="max-w-2xl">
        <Textarea
          value={typed}
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
          disabled={isReadOnly || typed.trim() === ''}
          isPending={send.isPending}
          icon={<Send size={14} aria-hidden />}
        >
          {text.send}
        </Button>
      </div>
    </form>
  )
}
