import { useQuery } from '@tanstack/react-query'
import { ArrowLeft, CircleX, Ellipsis, Palette, PencilLine, RotateCw, Workflow } from 'lucide-react'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { FailedQuery, hasFailed } from '../../../../web/shared/errors.tsx'
import { Button, IconButton } from '../../../../web/ui/button.tsx'
import { cn } from '../../../../web/ui/class-names.ts'
import { useKeys } from '../../../../web/ui/keys.ts'
import { useText } from '../../../../web/ui/language.ts'
import { FactsLine } from '../../../../web/ui/lists/facts-line.tsx'
import { Menu } from '../../../../web/ui/menu.tsx'
import { SkeletonRows } from '../../../../web/ui/states.tsx'
import { nameText } from '../../../agents/names.text.ts'
import { canStep } from '../../../mail/drafts/flow.ts'
import { common } from '../../common.text.ts'
import { useProject } from '../../project.ts'
import { useDraftAddress, VIEWS } from './address.ts'
import { audienceText } from './audience.text.ts'
import { AudienceDialog } from './audience-dialog.tsx'
import { StateBadge, useAudience } from './draft-state.tsx'
import { draftsText, stepsText } from './drafts.text.ts'
import { EditDialog, RejectDialog } from './edit-dialog.tsx'
import { Gates } from './gates.tsx'
import { MailPreview } from './mail-preview.tsx'
import { NextStep } from './next-step.tsx'
import { DraftProgress } from './progress.tsx'
import { type Detailed, type Draft, draftQuery, useStep } from './queries.ts'
import { Recipients } from './recipients.tsx'
import { useRedesign } from './redesign.ts'
import { Sentences } from './sentences.tsx'

/** One draft: as its recipients see it, its evidence, and the next step. */
export function DraftDetail({ id, isReadOnly }: { id: string; isReadOnly: boolean }) {
  const { slug } = useProject()
  const query = useQuery(draftQuery(slug, id))
  const { set } = useDraftAddress()
  const text = useText(draftsText)
  return (
    <article
      aria-label={text.label(query.data?.draft.subject ?? '')}
      className="@container flex min-h-0 min-w-0 flex-1 scroll-pb-28 flex-col overflow-y-auto @3xl:scroll-pb-0"
    >
      {query.isPending ? (
        <SkeletonRows rows={8} />
      ) : hasFailed(query) ? (
        <>
          <Button variant="ghost" className="m-2 self-start" onClick={() => set({ draft: null })}>
            {text.back}
          </Button>
          <FailedQuery error={query.error} onRetry={() => query.refetch()} />
        </>
      ) : (
        <Whole detailed={query.data} isReadOnly={isReadOnly} />
      )}
    </article>
  )
}

const WITH_GATES: Draft['state'][] = ['draft', 'rendered', 'approved', 'pushed', 'failed']

function Whole({ detailed, isReadOnly }: { detailed: Detailed; isReadOnly: boolean }) {
  const text = useText(draftsText)
  const { view, isEditing, set } = useDraftAddress()
  const [marked, setMarked] = useState<number>()
  const [isRejecting, setRejecting] = useState(false)
  const [isChoosing, setChoosing] = useState(false)
  const audience = useText(audienceText)
  const { draft, gates } = detailed
  const canEdit = canStep('edit', draft.state) && !isReadOnly
  useKeys({ e: canEdit ? () => set({ do: 'edit' }) : undefined })
  return (
    <>
      <header className="flex flex-col gap-3 border-b border-line px-4 pt-4 pb-3 md:px-6">
        <div className="flex items-start gap-x-2 gap-y-1 max-md:flex-wrap">
          <IconButton
            label={text.back}
            className="-ml-2 md:hidden"
            onClick={() => set({ draft: null })}
          >
            <ArrowLeft size={16} aria-hidden />
          </IconButton>
          <div className="min-w-0 flex-1 max-md:order-last max-md:basis-full">
            <h2 className="font-mail text-xl break-words">
              {draft.rendered_subject ?? draft.subject}
            </h2>
            <Envelope detailed={detailed} />
          </div>
          <More
            draft={draft}
            canEdit={canEdit}
            onEdit={() => set({ do: 'edit' })}
            onReject={() => setRejecting(true)}
          />
        </div>
        <Views
          view={view}
          hasChanges={detailed.diff !== null}
          onChange={(next) => set({ view: next })}
        />
      </header>
      <div className="flex flex-1 flex-col @3xl:grid @3xl:grid-cols-[minmax(0,1fr)_20rem] @3xl:grid-rows-[auto_auto_1fr]">
        <div className="flex min-w-0 flex-col bg-ink @3xl:col-start-1 @3xl:row-span-3 @3xl:row-start-1">
          <MailPreview detailed={detailed} view={view} marked={marked} onMark={setMarked} />
        </div>
        <div className="border-line px-4 pt-4 @max-3xl:border-t md:px-5 md:pt-5 @3xl:col-start-2 @3xl:border-l">
          <DraftProgress draft={draft} isReadOnly={isReadOnly} />
        </div>
        <NextStep detailed={detailed} isReadOnly={isReadOnly} onEdit={() => set({ do: 'edit' })} />
        <aside className="flex min-w-0 flex-col gap-6 border-line px-4 pt-6 pb-4 md:px-5 md:pb-5 @3xl:col-start-2 @3xl:row-start-3 @3xl:border-l">
          {WITH_GATES.includes(draft.state) ? <Gates gates={gates} /> : null}
          <Sentences detailed={detailed} marked={marked} isReadOnly={isReadOnly} />
          <Recipients
            detailed={detailed}
            action={
              canEdit ? (
                <Button
                  size="sm"
                  variant="ghost"
                  className="mt-1 -ml-2"
                  onClick={() => setChoosing(true)}
                >
                  {draft.audience.kind === 'lead' ? audience.other_lead : audience.other_people}
                </Button>
              ) : null
            }
          />
        </aside>
      </div>
      <EditDialog
        draft={draft}
        isOpen={isEditing && canEdit}
        onClose={() => set({ do: null })}
        onSaved={() => set({ do: null, view: detailed.draft.approved_at ? 'changes' : null })}
      />
      <AudienceDialog
        draft={draft}
        isOpen={isChoosing && canEdit}
        onClose={() => setChoosing(false)}
      />
      <RejectDialog
        draft={draft}
        isOpen={isRejecting}
        onClose={() => setRejecting(false)}
        onSaved={() => setRejecting(false)}
      />
    </>
  )
}

function Envelope({ detailed: { draft, recipients, from } }: { detailed: Detailed }) {
  const text = useText(draftsText)
  const audience = useAudience()
  const agents = useText(nameText)
  const nameOf = (agent: string) => new Map(Object.entries(agents)).get(agent) ?? agent
  const first = recipients.sample.find(({ skip }) => skip === null) ?? recipients.sample[0]
  const name = first?.name ?? first?.email
  const others = Math.max(recipients.will_get_it, 1) - 1
  const to =
    draft.audience.kind === 'lead' && name
      ? name
      : name && others > 0
        ? text.and_more(name, others)
        : (name ?? audience(draft.audience))
  return (
    <FactsLine className="mt-1">
      <StateBadge state={draft.state} />
      <span className="break-words">
        {text.from}: {from ? `${from.name} <${from.email}>` : text.nobody_signs}
      </span>
      <span className="break-words">
        {text.to}: {to}
      </span>
      {draft.agent ? text.by_agent(nameOf(draft.agent)) : text.by_hand}
    </FactsLine>
  )
}

function Views({
  view,
  hasChanges,
  onChange,
}: {
  view: (typeof VIEWS)[number]
  hasChanges: boolean
  onChange: (view: string) => void
}) {
  const text = useText(draftsText)
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be laid out as one row everywhere
    <div
      role="group"
      aria-label={text.view}
      className="flex w-fit max-w-full gap-0.5 overflow-x-auto rounded-control border border-line bg-surface p-0.5"
    >
      {VIEWS.filter((one) => one !== 'changes' || hasChanges || view === 'changes').map((one) => (
        <button
          key={one}
          type="button"
          aria-pressed={one === view}
          onClick={() => onChange(one)}
          className={cn(
            'h-7 shrink-0 rounded-[4px] px-2.5 text-sm whitespace-nowrap pointer-coarse:h-9',
            one === view ? 'bg-hover font-medium text-fg' : 'text-muted hover:text-fg',
          )}
        >
          {text.views[one]}
        </button>
      ))}
    </div>
  )
}

function More({
  draft,
  canEdit,
  onEdit,
  onReject,
}: {
  draft: Draft
  canEdit: boolean
  onEdit: () => void
  onReject: () => void
}) {
  const text = useText(stepsText)
  const words = useText(common)
  const { slug } = useProject()
  const [, navigate] = useLocation()
  const render = useStep('render', draft.id)
  const redesign = useRedesign(draft)
  return (
    <div className="flex shrink-0 items-center gap-1 max-md:ml-auto">
      {canEdit ? (
        <Button onClick={onEdit} icon={<PencilLine size={14} aria-hidden />}>
          {text.edit}
        </Button>
      ) : null}
      <Menu
        align="end"
        trigger={
          <IconButton label={words.more_actions}>
            <Ellipsis size={16} aria-hidden />
          </IconButton>
        }
        items={[
          {
            label: text.render_again,
            icon: <RotateCw size={16} aria-hidden />,
            isDisabled: !canEdit,
            onSelect: () => render.mutate(),
          },
          {
            label: text.redesign,
            icon: <Palette size={16} aria-hidden />,
            isDisabled: !canEdit,
            onSelect: () => redesign.mutate(),
          },
          ...(draft.mission_id
            ? [
                {
                  label: text.open_mission,
                  icon: <Workflow size={16} aria-hidden />,
                  onSelect: () => navigate(`/p/${slug}/missions?mission=${draft.mission_id}`),
                },
              ]
            : []),
          { kind: 'line' as const },
          {
            label: text.reject,
            icon: <CircleX size={16} aria-hidden />,
            isDanger: true,
            isDisabled: !canEdit || !canStep('reject', draft.state),
            onSelect: onReject,
          },
        ]}
      />
    </div>
  )
}
