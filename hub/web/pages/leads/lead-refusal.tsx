import { useMutation, useQueryClient } from '@tanstack/react-query'
import { MailQuestion } from 'lucide-react'
import { useToastError } from '../../../../web/shared/errors.tsx'
import { Button } from '../../../../web/ui/button.tsx'
import { useText } from '../../../../web/ui/language.ts'
import { toast } from '../../../../web/ui/toast.tsx'
import { api, ok } from '../../api/client.ts'
import { leadsText } from './leads.text.ts'
import { refreshLeads } from './queries.ts'

/** The question whether a reply asks for no more mail, for a person to decide. */
export function LeadRefusal({ id, isReadOnly }: { id: string; isReadOnly: boolean }) {
  const { refusal: text } = useText(leadsText)
  const queryClient = useQueryClient()
  const say = useToastError()
  const decide = useMutation({
    mutationFn: (refuses: boolean) =>
      ok(api.POST('/api/cockpit/lead/opt_out', { body: { lead_id: id, refuses } })),
    onSuccess: (_, refuses) => toast(refuses ? text.stopped : text.goes_on),
    onError: say,
    onSettled: () => refreshLeads(queryClient),
  })
  return (
    <section aria-labelledby="refusal" className="mx-5 mb-4 rounded-panel border border-line p-4">
      <h3 id="refusal" className="flex items-center gap-2 font-medium">
        <MailQuestion size={16} aria-hidden className="shrink-0" />
        {text.title}
      </h3>
      <p className="mt-1 text-sm text-muted">{text.why}</p>
      <div className="mt-3 flex flex-wrap gap-2">
        <Button
          size="sm"
          disabled={isReadOnly || decide.isPending}
          onClick={() => decide.mutate(true)}
        >
          {text.yes}
        </Button>
        <Button
          size="sm"
          disabled={isReadOnly || decide.isPending}
          onClick={() => decide.mutate(false)}
        >
          {text.no}
        </Button>
      </div>
    </section>
  )
}
