import {
  infiniteQueryOptions,
  keepPreviousData,
  type QueryClient,
  queryOptions,
  useMutation,
  useQueryClient,
} from '@tanstack/react-query'
import { useToastError } from '../../../../web/shared/errors.tsx'
import { api, ok, type Schemas } from '../../api/client.ts'
import { cursorOf, paged } from '../../paging.ts'
import type { Asked } from '../drafts/queries.ts'

export type Sequence = Schemas['Sequence']
export type Planned = Schemas['SequencePlanned']
export type SequenceRecipient = Schemas['SequenceRecipient']

export const sequencesQuery = (project: string) =>
  infiniteQueryOptions({
    queryKey: ['sequences', project],
    queryFn: ({ pageParam }) =>
      ok(
        api.GET('/api/cockpit/sequences/list', {
          params: { query: { project, limit: 50, ...cursorOf(pageParam) } },
        }),
      ),
    ...paged,
  })

const getSequence = (project: string, id: string) =>
  ok(api.GET('/api/cockpit/sequences/get', { params: { query: { project, id } } }))
export type DetailedSequence = Awaited<ReturnType<typeof getSequence>>

const WATCH_MS = 5_000

/** A sequence with its checks and sentences; polled while it is running. */
export const sequenceQuery = (project: string, id: string) =>
  queryOptions({
    queryKey: ['sequence', id],
    queryFn: () => getSequence(project, id),
    refetchInterval: ({ state: { data } }) =>
      data?.sequence.state === 'running' ? WATCH_MS : false,
  })

/** The mails of all steps as one recipient gets them. */
export const previewQuery = ({ project, id, updated_at }: Sequence, email: string | null) =>
  queryOptions({
    queryKey: ['sequence', id, 'preview', email, updated_at],
    queryFn: () =>
      ok(
        api.GET('/api/cockpit/sequences/preview', {
          params: { query: { project, id, ...(email ? { email } : {}) } },
        }),
      ),
    placeholderData: keepPreviousData,
  })

/** When the mail of each step would go to each recipient. */
export const timetableQuery = ({ project, id, updated_at }: Sequence) =>
  infiniteQueryOptions({
    queryKey: ['sequence', id, 'timetable', updated_at],
    queryFn: ({ pageParam }) =>
      ok(
        api.GET('/api/cockpit/sequences/timetable', {
          params: { query: { project, id, limit: 100, ...cursorOf(pageParam) } },
        }),
      ),
    ...paged,
  })

/** The recipients of an approved sequence, with what became of each. */
export const recipientsQuery = ({ project, id, updated_at, people }: Sequence) =>
  infiniteQueryOptions({
    queryKey: ['sequence', id, 'recipients', updated_at, people],
    queryFn: ({ pageParam }) =>
      ok(
        api.GET('/api/cockpit/sequences/recipients', {
          params: { query: { project, id, limit: 100, ...cursorOf(pageParam) } },
        }),
      ),
    ...paged,
  })

/** Who would be in a sequence with these choices. */
export const sequenceAudienceQuery = (project: string, id: string | null, asked: Asked) =>
  queryOptions({
    queryKey: ['sequence', id, 'audience', project, asked],
    queryFn: () =>
      ok(
        api.GET('/api/cockpit/drafts/audience', {
          params: { query: { project, ...(id ? { sequence_id: id } : {}), ...asked } },
        }),
      ),
    placeholderData: keepPreviousData,
  })

/** Refreshes everything that depends on sequences. */
export function refreshSequences(queryClient: QueryClient): Promise<unknown> {
  return Promise.all(
    [['sequences'], ['sequence'], ['queue'], ['today'], ['kpi']].map((queryKey) =>
      queryClient.invalidateQueries({ queryKey }),
    ),
  )
}

type Ref = { id: string; project: string }

/** useChange does something with a sequence; if the hub refuses it, it shows what has changed. */
export function useChange<T = void>(
  { id, project }: Pick<Sequence, 'id' | 'project'>,
  change: (ref: Ref, given: T) => Promise<unknown>,
  onSuccess: (given: T) => void = () => {},
) {
  const queryClient = useQueryClient()
  const say = useToastError()
  return useMutation({
    mutationFn: (given: T) => change({ id, project }, given),
    onSuccess: (_, given) => onSuccess(given),
    onError: say,
    onSettled: () => refreshSequences(queryClient),
  })
}
