import {
  infiniteQueryOptions,
  type QueryClient,
  queryOptions,
  useMutation,
  useQueryClient,
} from '@tanstack/react-query'
import { useSearchParams } from 'wouter'
import { useToastError } from '../../../../web/shared/errors.tsx'
import { toast } from '../../../../web/ui/toast.tsx'
import { api, ok, type Schemas } from '../../api/client.ts'
import { cursorOf, paged } from '../../paging.ts'

export type InboxMail = Schemas['InboxMail']
export type ThreadMail = Schemas['ThreadMail']

export const SHOWS = [
  'replies',
  'opt_outs',
  'out_of_office',
  'bounces',
  'unrelated',
  'all',
] as const
export type Show = (typeof SHOWS)[number]

const REFRESH_MS = 30_000

/** The mails of one kind; read again while the page is open. */
export const inboxQuery = (given: { project: string | null; show: Show; isHandled: boolean }) =>
  infiniteQueryOptions({
    queryKey: ['inbox', given],
    queryFn: ({ pageParam }) =>
      ok(
        api.GET('/api/cockpit/inbox/list', {
          params: {
            query: {
              ...(given.project ? { project: given.project } : {}),
              show: given.show,
              state: given.isHandled ? 'handled' : 'open',
              ...cursorOf(pageParam),
            },
          },
        }),
      ),
    ...paged,
    refetchInterval: REFRESH_MS,
  })

const getMail = (id: string) => ok(api.GET('/api/cockpit/inbox/get', { params: { query: { id } } }))
export type InboxDetail = Awaited<ReturnType<typeof getMail>>

export const inboxMailQuery = (id: string) =>
  queryOptions({ queryKey: ['inbox', 'mail', id], queryFn: () => getMail(id) })

/** Refreshes everything that a decision about a mail changes. */
export function refreshInbox(queryClient: QueryClient): Promise<unknown> {
  return Promise.all(
    [['inbox'], ['leads'], ['lead'], ['today'], ['kpi']].map((queryKey) =>
      queryClient.invalidateQueries({ queryKey }),
    ),
  )
}

/** useDecision does one thing to a mail, says what it did, and refreshes what it changes. */
export function useDecision<T>(decide: (value: T) => Promise<unknown>, done: (value: T) => string) {
  const queryClient = useQueryClient()
  const say = useToastError()
  return useMutation({
    mutationFn: async (value: T) => void (await decide(value)),
    onSuccess: (_, value) => {
      const words = done(value)
      if (words) toast(words)
    },
    onError: say,
    onSettled: () => refreshInbox(queryClient),
  })
}

/** The state of the page in its address. */
export function useInboxAddress() {
  const [search, setSearch] = useSearchParams()
  const set = (change: Partial<Record<'show' | 'mail' | 'state' | 'of', string | null>>) =>
    setSearch(
      (before) => {
        const after = new URLSearchParams(before)
        for (const [name, value] of Object.entries(change)) {
          if (value) after.set(name, value)
          else after.delete(name)
        }
        return after
      },
      { replace: !('mail' in change) },
    )
  return {
    show: SHOWS.find((one) => one === search.get('show')) ?? ('replies' as const),
    open: search.get('mail'),
    isHandled: search.get('state') === 'handled',
    isAll: search.get('of') === 'all',
    set,
  }
}

/** A random id (RFC 9562, version 4), also where a page without TLS lacks crypto.randomUUID. */
export function randomId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    hex.slice(12, 16),
    hex.slice(16, 20),
    hex.slice(20),
  ].join('-')
}
