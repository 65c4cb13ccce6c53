import { useMutation, useQueryClient } from '@tanstack/react-query'
import { CircleDot, Scale, Tag, Trash2, X } from 'lucide-react'
import { useState } from 'react'
import { ApiForm, useToastError } from '../../../../web/shared/errors.tsx'
import { Button, IconButton } from '../../../../web/ui/button.tsx'
import { Input } from '../../../../web/ui/field.tsx'
import { useText } from '../../../../web/ui/language.ts'
import { Menu } from '../../../../web/ui/menu.tsx'
import { Popover } from '../../../../web/ui/popover.tsx'
import { toast } from '../../../../web/ui/toast.tsx'
import { api, ok } from '../../api/client.ts'
import { useProject } from '../../project.ts'
import { BasisDialog } from './basis-dialog.tsx'
import { dealText } from './deal.text.ts'
import { useDeleteLeads } from './delete-later.ts'
import { leadsText } from './leads.text.ts'
import { type LeadFilter, patchLists, refreshLeads } from './queries.ts'
import { STAGES, type Stage, StageMark } from './stage.tsx'

/** The actions on the selected leads; floats over the list while any are selected. */
export function BulkBar({
  ids,
  onDone,
  isReadOnly,
  filter,
}: {
  ids: string[]
  /** Set when more leads are found than are loaded, and all are chosen. */
  filter?: LeadFilter | undefined
  onDone: () => void
  isReadOnly: boolean
}) {
  const { bulk: text, stages } = useText(leadsText)
  const { slug } = useProject()
  const queryClient = useQueryClient()
  const say = useToastError()
  const remove = useDeleteLeads()
  const [isTagging, setTagging] = useState(0)
  const [isBasing, setBasing] = useState(false)
  const deals = useText(dealText)
  const change = useMutation({
    mutationFn: (what: { stage?: Stage; add_tags?: string[] }) =>
      ok(api.POST('/api/cockpit/leads/bulk', { body: { project: slug, ids, ...what } })),
    onMutate: ({ stage, add_tags = [] }) => {
      const chosen = new Set(ids)
      patchLists(queryClient, (leads) =>
        leads.map((lead) =>
          chosen.has(lead.id)
            ? {
                ...lead,
                ...(stage ? { stage } : {}),
                tags: [...new Set([...lead.tags, ...add_tags])],
              }
            : lead,
        ),
      )
    },
    onSuccess: ({ changed, full }, { stage, add_tags }) => {
      if (full.length > 0) toast(text.full(full.length), { kind: 'failed' })
      if (changed.length === 0) return
      const [tag = ''] = add_tags ?? []
      toast(stage ? text.moved(changed.length, stages[stage]) : text.tagged(changed.length, tag))
      onDone()
    },
    onError: say,
    onSettled: () => refreshLeads(queryClient),
  })
  if (ids.length === 0) return null
  return (
    <section
      aria-label={text.actions}
      className="fixed bottom-18 left-1/2 z-10 flex max-w-[calc(100vw-16px)] -translate-x-1/2 items-center gap-1 rounded-panel bg-raised p-1.5 shadow-panel md:bottom-6"
    >
      <span className="px-2 font-medium whitespace-nowrap" data-numbers>
        {text.selected(ids.length)}
      </span>
      <Menu
        trigger={
          <Button variant="ghost" disabled={isReadOnly} icon={<CircleDot size={16} aria-hidden />}>
            <span className="max-md:sr-only">{text.set_stage}</span>
          </Button>
        }
        items={STAGES.map((stage) => ({
          label: stages[stage],
          icon: <StageMark stage={stage} />,
          onSelect: () => change.mutate({ stage }),
        }))}
      />
      <Popover
        key={isTagging}
        label={text.add_tag}
        trigger={
          <Button variant="ghost" disabled={isReadOnly} icon={<Tag size={16} aria-hidden />}>
            <span className="max-md:sr-only">{text.add_tag}</span>
          </Button>
        }
      >
        <ApiForm
          onSubmit={async ({ tag = '' }) => {
            if (tag) await change.mutateAsync({ add_tags: [tag] })
            setTagging(isTagging + 1)
          }}
        >
          <Input
            name="tag"
            aria-label={text.add_tag}
            placeholder={text.tag_placeholder}
            maxLength={60}
          />
        </ApiForm>
      </Popover>
      <Button
        variant="ghost"
        disabled={isReadOnly}
        onClick={() => setBasing(true)}
        icon={<Scale size={16} aria-hidden />}
      >
        <span className="max-md:sr-only">{deals.bulk.action}</span>
      </Button>
      {isBasing ? (
        <BasisDialog
          ids={ids}
          filter={filter}
          onClose={() => setBasing(false)}
          onDone={() => {
            setBasing(false)
            onDone()
          }}
        />
      ) : null}
      <Button
        variant="ghost"
        disabled={isReadOnly}
        onClick={() => {
          remove(slug, ids)
          onDone()
        }}
        icon={<Trash2 size={16} aria-hidden />}
      >
        <span className="max-md:sr-only">{text.delete}</span>
      </Button>
      <IconButton label={text.clear} onClick={onDone}>
        <X size={16} aria-hidden />
      </IconButton>
    </section>
  )
}
