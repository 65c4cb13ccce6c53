import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Trash2 } from 'lucide-react'
import { useToastError } from '../../../../web/shared/errors.tsx'
import { Button, IconButton } from '../../../../web/ui/button.tsx'
import { Textarea } from '../../../../web/ui/field.tsx'
import { useText } from '../../../../web/ui/language.ts'
import { Time } from '../../../../web/ui/time.tsx'
import { api, ok } from '../../api/client.ts'
import { useTyped } from '../../typed.ts'
import { leadsText } from './leads.text.ts'
import type { LeadWhole } from './queries.ts'
import { leadQuery, refreshLeads } from './queries.ts'

/** The notes about a lead. */
export function Notes({ lead, isReadOnly }: { lead: LeadWhole; isReadOnly: boolean }) {
  const { panel: text } = useText(leadsText)
  const queryClient = useQueryClient()
  const say = useToastError()
  const { typed, write, sent } = useTyped(`note ${lead.id}`)
  const add = useMutation({
    mutationFn: (note: string) =>
      ok(api.POST('/api/cockpit/lead/note', { body: { lead_id: lead.id, text: note } })),
    onSuccess: (_, note) => sent(note),
    onError: say,
    onSettled: () => refreshLeads(queryClient),
  })
  const remove = useMutation({
    mutationFn: (note_id: string) =>
      ok(api.POST('/api/cockpit/lead/note/delete', { body: { note_id } })),
    onMutate: (gone) => {
      queryClient.setQueryData(leadQuery(lead.id).queryKey, (known) =>
        known ? { ...known, notes: known.notes.filter(({ id }) => id !== gone) } : known,
      )
    },
    onError: say,
    onSettled: () => refreshLeads(queryClient),
  })
  const submit = () => {
    if (typed.trim() && !add.isPending) add.mutate(typed.trim())
  }
  return (
    <div className="flex flex-col gap-4 p-5">
      {isReadOnly ? null : (
        <div className="flex flex-col items-end gap-2">
          <Textarea
            rows={3}
            aria-label={text.write_note}
            placeholder={text.note_placeholder}
            value={typed}
            maxLength={10_000}
            onChange={(event) => write(event.target.value)}
            onKeyDown={(event) => {
              if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) submit()
            }}
          />
          <Button disabled={typed.trim() === ''} isPending={add.isPending} onClick={submit}>
            {text.save_note}
          </Button>
        </div>
      )}
      {lead.notes.length === 0 ? <p className="text-muted">{text.no_notes}</p> : null}
      <ul className="flex flex-col gap-3">
        {lead.notes.map((note) => (
          <li key={note.id} className="group rounded-control border border-line px-3 py-2">
            <p className="break-words whitespace-pre-wrap">{note.text}</p>
            <p className="mt-1 flex items-center text-sm text-muted">
              <Time at={note.created_at} className="flex-1" />
              {isReadOnly ? null : (
                <IconButton
                  label={text.delete_note}
                  onClick={() => remove.mutate(note.id)}
                  className="-mr-1.5 opacity-0 group-focus-within:opacity-100 group-hover:opacity-100 pointer-coarse:opacity-100"
                >
                  <Trash2 size={14} aria-hidden />
                </IconButton>
              )}
            </p>
          </li>
        ))}
      </ul>
    </div>
  )
}
