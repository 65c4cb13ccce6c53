import {
  type InfiniteData,
  infiniteQueryOptions,
  type QueryClient,
  queryOptions,
  useMutation,
  useQueryClient,
} from '@tanstack/react-query'
import { useToastError } from '../../../../web/shared/errors.tsx'
import { api, ok, type Schemas } from '../../api/client.ts'
import { cursorOf, paged } from '../../paging.ts'
import type { Stage } from './stage.tsx'

export type Lead = Schemas['Lead']
/** A lead with everything its panel shows. */
export type LeadWhole = Schemas['Lead'] & {
  copies: { id: string; project: string; stage: Schemas['Lead']['stage'] }[]
  may_refuse: boolean
  tasks: Schemas['Task'][]
  evidence: {
    id: string
    fact: string
    quote: string | null
    source: string
    column: string | null
    mission_id: string | null
    created_at: string
  }[]
}
export type LeadFilter = { stage?: Stage; tag?: string; q?: string; field?: string; value?: string }
type Page = { leads: Lead[]; next_cursor: string | null }

const PAGE = 100

/** The name of a lead in lists: its name, or else its company, or else its e-mail. */
export function nameOf(lead: Pick<Lead, 'name' | 'company' | 'email'>): string {
  return lead.name ?? lead.company ?? lead.email ?? ''
}

export const leadsQuery = (project: string, filter: LeadFilter) =>
  infiniteQueryOptions({
    queryKey: ['leads', project, filter],
    queryFn: ({ pageParam }) =>
      ok(
        api.GET('/api/cockpit/leads/list', {
          params: { query: { project, ...filter, limit: PAGE, ...cursorOf(pageParam) } },
        }),
      ),
    ...paged,
  })

export const leadQuery = (id: string) =>
  queryOptions({
    queryKey: ['lead', id],
    queryFn: async () =>
      (await ok(api.GET('/api/cockpit/lead/get', { params: { query: { lead_id: id } } }))).lead,
  })

export const timelineQuery = (id: string) =>
  infiniteQueryOptions({
    queryKey: ['lead', id, 'timeline'],
    queryFn: ({ pageParam }) =>
      ok(
        api.GET('/api/cockpit/lead/timeline', {
          params: { query: { lead_id: id, limit: 50, ...cursorOf(pageParam) } },
        }),
      ),
    initialPageParam: '',
    getNextPageParam: ({ next_cursor }) => next_cursor,
  })

export type LeadChange = { id: string } & Partial<
  Pick<
    Lead,
    | 'name'
    | 'email'
    | 'company'
    | 'title'
    | 'phone'
    | 'website'
    | 'country'
    | 'language'
    | 'stage'
    | 'source'
    | 'lawful_basis'
    | 'score'
    | 'tags'
    | 'amount'
    | 'currency'
    | 'close_on'
    | 'next_step'
    | 'outcome_reason'
    | 'outcome_note'
    | 'basis_note'
    | 'basis_source'
    | 'basis_on'
  > & { custom: Record<string, string | number | boolean | null> }
>

/** Changes leads in every cached list; the answer, or an error, corrects it. */
export function patchLists(queryClient: QueryClient, patch: (leads: Lead[]) => Lead[]): void {
  queryClient.setQueriesData<InfiniteData<Page>>({ queryKey: ['leads'] }, (data) =>
    data
      ? { ...data, pages: data.pages.map((page) => ({ ...page, leads: patch(page.leads) })) }
      : data,
  )
}

/** Refreshes everything that depends on leads. */
export function refreshLeads(queryClient: QueryClient): Promise<unknown> {
  return Promise.all(
    ['leads', 'lead', 'projects', 'today', 'kpi', 'deals', 'duplicates', 'numbers'].map((key) =>
      queryClient.invalidateQueries({ queryKey: [key] }),
    ),
  )
}

/** A lead with a change of it; values of its own fields go over those it has. */
function changed<T extends Lead>(lead: T, { custom, ...change }: Omit<LeadChange, 'id'>): T {
  const own = Object.entries({ ...lead.custom, ...custom }).filter(
    (entry): entry is [string, string | number | boolean] => entry[1] !== null,
  )
  return { ...lead, ...change, custom: Object.fromEntries(own) }
}

/** useChangeLead shows a change at once and reverts it if the hub refuses it. */
export function useChangeLead() {
  const queryClient = useQueryClient()
  const say = useToastError()
  return useMutation({
    mutationFn: ({ id, ...change }: LeadChange) =>
      ok(api.POST('/api/cockpit/lead/update', { body: { lead_id: id, ...change } })),
    onMutate: ({ id, ...change }) => {
      patchLists(queryClient, (leads) =>
        leads.map((lead) => (lead.id === id ? changed(lead, change) : lead)),
      )
      queryClient.setQueryData(leadQuery(id).queryKey, (lead) =>
        lead ? changed(lead, change) : lead,
      )
    },
    onError: say,
    onSettled: () => refreshLeads(queryClient),
  })
}
