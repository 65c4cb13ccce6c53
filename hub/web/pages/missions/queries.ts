import {
  infiniteQueryOptions,
  type QueryClient,
  queryOptions,
  useMutation,
  useQueryClient,
} from '@tanstack/react-query'
import { useToastError } from '../../../../web/shared/errors.tsx'
import { api, ok, type Schemas } from '../../api/client.ts'
import { cursorOf, paged } from '../../paging.ts'

export type Mission = Schemas['Mission']
export type Details = Schemas['MissionDetails']
export type Approval = Schemas['Approval']
export type Status = Mission['status']
export const STATUSES = [
  'processing',
  'queued',
  'done',
  'failed',
  'cancelled',
] as const satisfies readonly Status[]

/** Whether the mission is not finished. */
export const isOpen = ({ status }: Pick<Mission, 'status'>) =>
  status === 'queued' || status === 'processing'

const LOOK_MS = 3_000

export const missionsQuery = (project: string, status: Status | undefined) =>
  infiniteQueryOptions({
    queryKey: ['missions', project, status ?? null],
    queryFn: ({ pageParam }) =>
      ok(
        api.GET('/api/cockpit/missions/list', {
          params: {
            query: {
              project,
              limit: 50,
              ...(status ? { status } : {}),
              ...cursorOf(pageParam),
            },
          },
        }),
      ),
    ...paged,
    refetchInterval: ({ state: { data } }) =>
      data?.pages.some(({ missions }) => missions.some(isOpen)) ? LOOK_MS : false,
  })

export const missionQuery = (id: string) =>
  queryOptions({
    queryKey: ['mission', id],
    queryFn: async () =>
      (await ok(api.GET('/api/cockpit/missions/{id}', { params: { path: { id } } }))).mission,
  })

export const approvalsQuery = (project: string) =>
  queryOptions({
    queryKey: ['approvals', project],
    queryFn: async () =>
      (await ok(api.GET('/api/cockpit/approvals/list', { params: { query: { project } } })))
        .approvals,
    refetchInterval: 15_000,
  })

export const agentsQuery = queryOptions({
  queryKey: ['agents'],
  queryFn: async () => (await ok(api.GET('/api/cockpit/missions/agents'))).agents,
  staleTime: Number.POSITIVE_INFINITY,
})

/** Refreshes everything that depends on missions. */
export function refreshMissions(queryClient: QueryClient): Promise<unknown> {
  return Promise.all(
    ['missions', 'mission', 'approvals', 'today', 'kpi', 'drafts'].map((key) =>
      queryClient.invalidateQueries({ queryKey: [key] }),
    ),
  )
}

/** Cancels or retries a mission. */
export function useMissionStep(step: 'cancel' | 'retry', onDone?: (mission: Mission) => void) {
  const queryClient = useQueryClient()
  const say = useToastError()
  return useMutation({
    mutationFn: async (id: string) =>
      (await ok(api.POST(`/api/cockpit/mission/${step}`, { body: { id } }))).mission,
    onSuccess: (mission) => onDone?.(mission),
    onError: say,
    onSettled: () => refreshMissions(queryClient),
  })
}
