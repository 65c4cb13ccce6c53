import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Pencil } from 'lucide-react'
import { useState } from 'react'
import { ApiForm, FailedQuery, hasFailed } from '../../../../web/shared/errors.tsx'
import { Button } from '../../../../web/ui/button.tsx'
import { Textarea } from '../../../../web/ui/field.tsx'
import { FormError, FormField, Submit } from '../../../../web/ui/form.tsx'
import { useText } from '../../../../web/ui/language.ts'
import { Dialog } from '../../../../web/ui/layer.tsx'
import { SkeletonRows } from '../../../../web/ui/states.tsx'
import { Time } from '../../../../web/ui/time.tsx'
import { toast } from '../../../../web/ui/toast.tsx'
import { api, ok, type Schemas } from '../../api/client.ts'
import { refreshMissions } from './queries.ts'
import { threadText } from './thread.text.ts'

type Version = Schemas['ResultVersion']

/** Opens the text of a result, or of one of its documents, to edit it. */
export function EditResult(props: { id: string; part: string; disabled: boolean }) {
  const text = useText(threadText)
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <Button
        size="sm"
        variant="ghost"
        disabled={props.disabled}
        icon={<Pencil size={14} aria-hidden />}
        onClick={() => setOpen(true)}
      >
        {text.edit}
      </Button>
      <Dialog
        isOpen={isOpen}
        onClose={() => setOpen(false)}
        title={text.text}
        description=""
        size="md"
      >
        <Versions {...props} onSaved={() => setOpen(false)} />
      </Dialog>
    </>
  )
}

function Versions({ id, part, onSaved }: { id: string; part: string; onSaved: () => void }) {
  const query = useQuery({
    queryKey: ['versions', id, part],
    queryFn: async () =>
      (
        await ok(
          api.GET('/api/cockpit/missions/{id}/versions', {
            params: { path: { id }, query: { part } },
          }),
        )
      ).versions,
    // Somebody else may have edited it since it was last shown.
    gcTime: 0,
  })
  if (query.isPending) return <SkeletonRows rows={4} />
  if (hasFailed(query)) return <FailedQuery error={query.error} onRetry={() => query.refetch()} />
  return <EditForm id={id} part={part} versions={query.data} onSaved={onSaved} />
}

function EditForm(props: { id: string; part: string; versions: Version[]; onSaved: () => void }) {
  const { id, part, versions, onSaved } = props
  const text = useText(threadText)
  const queryClient = useQueryClient()
  const current = versions.at(-1)
  /** What the text was written over: a version that came since is refused, and not overwritten. */
  const [base, setBase] = useState(current?.version ?? 1)
  const [written, setWritten] = useState(current?.text ?? '')
  const restore = (one: Version) => {
    setWritten(one.text)
    setBase(current?.version ?? 1)
  }
  return (
    <ApiForm
      className="flex flex-col gap-3"
      onSubmit={async () => {
        await ok(
          api.POST('/api/cockpit/mission/edit', {
            body: { id, part, version: base, text: written },
          }),
        )
        toast(text.saved)
        await queryClient.invalidateQueries({ queryKey: ['document'] })
        await refreshMissions(queryClient)
        onSaved()
      }}
    >
      <FormField name="text" label={text.text}>
        <Textarea
          data-first
          rows={14}
          value={written}
          onChange={(event) => setWritten(event.target.value)}
        />
      </FormField>
      <FormError />
      <div>
        <Submit disabled={written === current?.text}>{text.save}</Submit>
      </div>
      <section aria-label={text.versions}>
        <h3 className="mb-1 text-sm text-muted">{text.versions}</h3>
        <ol className="flex flex-col">
          {versions.toReversed().map((one) => (
            <li key={one.version} className="flex min-h-8 flex-wrap items-center gap-3 text-sm">
              <span>{text.version(one.version)}</span>
              <span className="text-muted">{text.by[one.edited_by]}</span>
              <Time at={one.edited_at} className="text-muted" />
              {one.text === written ? null : (
                <Button size="sm" variant="ghost" onClick={() => restore(one)}>
                  {text.restore}
                </Button>
              )}
            </li>
          ))}
        </ol>
      </section>
    </ApiForm>
  )
}
