import {
  infiniteQueryOptions,
  keepPreviousData,
  type QueryClient,
  queryOptions,
  useMutation,
  useQueryClient,
} from '@tanstack/react-query'
import { useToastError } from '../../../../web/shared/errors.tsx'
import type { operations } from '../../api/api.gen.ts'
import { api, ok, type Schemas } from '../../api/client.ts'
import { mailQuery } from '../../api/queries.ts'
import { cursorOf, paged } from '../../paging.ts'
import { useProject } from '../../project.ts'

export type Draft = Schemas['Draft']
export type Gate = Schemas['Gate']
export type DraftState = Draft['state']
export type Recipient = Schemas['DraftRecipient']
export type Preview = Schemas['DraftReaders']

export const draftsQuery = (project: string, state: DraftState | undefined) =>
  infiniteQueryOptions({
    queryKey: ['drafts', project, state ?? null],
    queryFn: ({ pageParam }) =>
      ok(
        api.GET('/api/cockpit/drafts/list', {
          params: {
            query: {
              project,
              limit: 50,
              ...(state ? { state } : {}),
              ...cursorOf(pageParam),
            },
          },
        }),
      ),
    ...paged,
  })

const getDraft = (project: string, id: string) =>
  ok(api.GET('/api/cockpit/drafts/get', { params: { query: { project, id } } }))
export type Detailed = Awaited<ReturnType<typeof getDraft>>

export type Sentence = Schemas['DraftSentence']

/** Whether evidence says so or a person stands for it. */
export const isProven = ({ verdict, stand }: Sentence) =>
  verdict === 'harmless' || verdict === 'supported' || stand !== null

const WATCH_MS = 1_500

/** A draft with its gates and recipients; polled while it is being sent. */
export const draftQuery = (project: string, id: string) =>
  queryOptions({
    queryKey: ['draft', id],
    queryFn: () => getDraft(project, id),
    refetchInterval: ({ state: { data } }) => (data?.draft.state === 'sending' ? WATCH_MS : false),
  })

/** How many recipients a page shows. */
export const MAX_PEOPLE = 100

/** The outcomes of the mails of an approved draft, or of those in one state. */
export const recipientsQuery = (draft: Draft, state?: Recipient['state']) =>
  queryOptions({
    queryKey: ['draft', draft.id, 'recipients', state ?? null, draft.updated_at, draft.progress],
    queryFn: () =>
      ok(
        api.GET('/api/cockpit/drafts/recipients', {
          params: {
            query: {
              id: draft.id,
              project: draft.project,
              limit: MAX_PEOPLE,
              ...(state ? { state } : {}),
            },
          },
        }),
      ),
    placeholderData: keepPreviousData,
  })

const getAudience = (draft: Draft, asked: Asked) =>
  ok(
    api.GET('/api/cockpit/drafts/audience', {
      params: { query: { id: draft.id, project: draft.project, ...asked } },
    }),
  )
export type Asked = Omit<
  NonNullable<operations['getAudience']['parameters']['query']>,
  'id' | 'sequence_id' | 'project'
>
export type Choices = Awaited<ReturnType<typeof getAudience>>['choices']

/** The recipients of a draft with a different audience. */
export const audienceQuery = (draft: Draft, asked: Asked) =>
  queryOptions({
    queryKey: ['draft', draft.id, 'audience', asked],
    queryFn: () => getAudience(draft, asked),
    placeholderData: keepPreviousData,
  })

/** Refreshes everything that depends on drafts. */
export function refreshDrafts(queryClient: QueryClient): Promise<unknown> {
  return Promise.all(
    [['drafts'], ['draft'], ['today'], ['kpi'], ['projects'], mailQuery.queryKey].map((queryKey) =>
      queryClient.invalidateQueries({ queryKey }),
    ),
  )
}

type Ref = { id: string; project: string }

/** The steps of a draft that need no input. */
const CALLS = {
  render: (body: Ref) => ok(api.POST('/api/cockpit/draft/render', { body })),
  push: (body: Ref) => ok(api.POST('/api/cockpit/draft/push', { body })),
  send: (body: Ref) => ok(api.POST('/api/cockpit/draft/send', { body })),
  pause: (body: Ref) => ok(api.POST('/api/cockpit/draft/pause', { body })),
  resume: (body: Ref) => ok(api.POST('/api/cockpit/draft/resume', { body })),
}

/** useStep does one of these steps; if the hub refuses it, it shows what has changed meanwhile. */
export function useStep(step: keyof typeof CALLS, id: string) {
  const { slug: project } = useProject()
  const queryClient = useQueryClient()
  const say = useToastError()
  return useMutation({
    mutationFn: async () => void (await CALLS[step]({ id, project })),
    onError: say,
    onSettled: () => refreshDrafts(queryClient),
  })
}
