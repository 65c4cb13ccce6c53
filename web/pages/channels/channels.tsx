import { useQuery } from '@tanstack/react-query'
import { Plus, Share2, Webhook } from 'lucide-react'
import { useMemo } from 'react'
import { Link } from 'wouter'
import { type Channel, channelsQuery } from '../../api/queries.ts'
import { FailedQuery, hasFailed } from '../../shared/errors.tsx'
import { Badge } from '../../ui/badge.tsx'
import { buttonClass } from '../../ui/button.tsx'
import { useText } from '../../ui/language.ts'
import { Panes } from '../../ui/lists/panes.tsx'
import { Empty, SkeletonRows } from '../../ui/states.tsx'
import { ChannelDetail } from './channel-detail.tsx'
import { channelsText } from './channels.text.ts'
import { kindsText } from './kinds.text.ts'
import { CHANNEL_TONES, isKind, KIND_NAMES, KINDS } from './kinds.ts'
import { NewChannel } from './new-channel.tsx'

/** All channels by kind, and beside them the one that is looked at or made. */
export function ChannelsPage({ id, kind }: { id: string | undefined; kind: string | undefined }) {
  const text = useText(channelsText)
  const channels = useQuery(channelsQuery)
  const listed = useMemo(() => byKind(channels.data ?? []), [channels.data])
  const channel = listed.find((one) => one.id === id)
  const picture = <Webhook size={24} strokeWidth={1.5} aria-hidden />
  const add = (
    <Link href="/channels/new" className={buttonClass({ variant: 'primary' })}>
      <Plus size={14} aria-hidden /> {text.add}
    </Link>
  )
  return (
    <Panes
      isOpen={id !== undefined}
      list={
        <>
          <header className="flex items-center justify-between gap-2 border-b border-line px-4 py-3">
            <h1 className="text-lg">{text.title}</h1>
            {add}
          </header>
          {channels.isPending ? <SkeletonRows /> : null}
          {hasFailed(channels) ? (
            <FailedQuery error={channels.error} onRetry={() => channels.refetch()} />
          ) : null}
          {channels.data?.length === 0 ? (
            <Empty picture={picture} title={text.none} text={text.none_text} />
          ) : null}
          <ul className="min-h-0 flex-1 overflow-y-auto">
            {listed.map((one) => (
              <ChannelLine key={one.id} channel={one} isHere={one.id === id} />
            ))}
          </ul>
        </>
      }
    >
      {id === 'new' || (!id && channels.data?.length === 0) ? <NewChannel kind={kind} /> : null}
      {channel ? <ChannelDetail key={channel.id} channel={channel} /> : null}
      {!id && listed.length > 0 ? (
        <Empty picture={picture} title={text.choose} text={text.choose_text} />
      ) : null}
      {id && id !== 'new' && channels.data && !channel ? (
        <Empty picture={picture} title={text.unknown} text={text.unknown_text} action={add} />
      ) : null}
    </Panes>
  )
}

/** Those of one kind stand together, in the order in which kinds are offered. */
function byKind(channels: Channel[]): Channel[] {
  const rank = ({ kind }: Channel) => (isKind(kind) ? KIND_NAMES.indexOf(kind) : KIND_NAMES.length)
  return channels.toSorted((one, two) => rank(one) - rank(two))
}

function ChannelLine({ channel, isHere }: { channel: Channel; isHere: boolean }) {
  const text = useText(channelsText)
  const kinds = useText(kindsText)
  const Icon = isKind(channel.kind) ? KINDS[channel.kind].icon : Webhook
  const kind = isKind(channel.kind) ? kinds.names[channel.kind] : channel.kind
  return (
    <li>
      <Link
        href={`/channels/${channel.id}`}
        aria-current={isHere ? 'true' : undefined}
        className="flex items-center gap-3 border-b border-line px-4 py-2 -outline-offset-2 hover:bg-hover aria-[current]:bg-selected"
      >
        <Icon size={16} className="shrink-0 text-muted" aria-hidden />
        <span className="min-w-0 flex-1">
          <span className="block truncate">{channel.label ?? kind}</span>
          <span className="flex items-center gap-1.5 text-sm text-muted">
            <span>{kind}</span>
            {channel.org_id ? <Share2 size={12} role="img" aria-label={text.shared} /> : null}
          </span>
        </span>
        <Badge tone={CHANNEL_TONES[channel.status]} className="bg-surface">
          {text.states[channel.status]}
        </Badge>
      </Link>
    </li>
  )
}
