import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Eye, FolderPlus, KeyRound } from 'lucide-react'
import { Suspense, useEffect, useState } from 'react'
import { Link, Route, Switch, useLocation } from 'wouter'
import { FailedQuery, hasFailed } from '../../../web/shared/errors.tsx'
import { StaleNotice } from '../../../web/shared/stale.tsx'
import { Button, buttonClass } from '../../../web/ui/button.tsx'
import { useKeys } from '../../../web/ui/keys.ts'
import { useText } from '../../../web/ui/language.ts'
import { Empty, SkeletonRows } from '../../../web/ui/states.tsx'
import { api, ok } from '../api/client.ts'
import { projectsQuery, useIsAdmin, useReadOnly } from '../api/queries.ts'
import { common } from '../common.text.ts'
import { HUB_PAGES, PROJECT_PAGES } from '../pages.tsx'
import { ProjectProvider } from '../project.ts'
import { CreateProject } from './create-project.tsx'
import { PhoneBar, Sidebar } from './navigation.tsx'
import { NotFound } from './page.tsx'
import { SearchEverything } from './search.tsx'
import { shellText } from './shell.text.ts'
import { Shortcuts } from './shortcuts.tsx'

/** The sidebar, the banners and the page; `slug` is the project in the address, if any. */
export function Shell({ slug }: { slug?: string }) {
  const text = useText(shellText)
  const projects = useQuery(projectsQuery)
  const [, navigate] = useLocation()
  const [open, setOpen] = useState<'search' | 'keys' | 'create'>()
  const isReadOnly = useReadOnly() !== undefined
  const all = projects.data
  const project = slug
    ? all?.find((one) => one.slug === slug)
    : (all?.find(({ active }) => active) ?? all?.[0])
  useSelected(slug && project?.slug, project?.active ?? true)
  const base = project ? `/p/${project.slug}` : ''
  useKeys({
    'mod+k': () => setOpen('search'),
    '/': () => setOpen('search'),
    '?': () => setOpen('keys'),
    ...Object.fromEntries([
      ...PROJECT_PAGES.map(({ path, key }) => [
        `g ${key}`,
        base ? () => navigate(`${base}/${path}`) : undefined,
      ]),
      ...HUB_PAGES.map(({ path, key }) => [`g ${key}`, () => navigate(`/${path}`)]),
    ]),
  })
  const close = () => setOpen(undefined)
  const navigation = {
    project,
    projects: all ?? [],
    onSearch: () => setOpen('search'),
    onKeys: () => setOpen('keys'),
    onCreate: () => setOpen('create'),
  }
  return (
    <div className="flex h-dvh flex-col md:flex-row">
      <a
        href="#page"
        className="sr-only z-50 focus:not-sr-only focus:absolute focus:m-2 focus:rounded-control focus:bg-raised focus:p-2"
      >
        {text.skip_to_page}
      </a>
      <Sidebar {...navigation} />
      <main id="page" tabIndex={-1} className="flex min-h-0 min-w-0 flex-1 flex-col outline-none">
        <ReadOnlyBanner />
        <StaleNotice />
        <Suspense fallback={<SkeletonRows />}>
          {hasFailed(projects) ? (
            <FailedQuery error={projects.error} onRetry={() => projects.refetch()} />
          ) : projects.isPending ? (
            <SkeletonRows />
          ) : (
            <Switch>
              {HUB_PAGES.map(({ path, Page }) => (
                <Route key={path} path={`/${path}/*?`} component={Page} />
              ))}
              {project ? (
                <Route path={`${base}/*?`}>
                  <ProjectProvider value={project}>
                    {/* Another project's page begins anew. */}
                    <Switch key={project.slug}>
                      {PROJECT_PAGES.map(({ path, Page }) => (
                        <Route key={path} path={`${base}/${path}/*?`} component={Page} />
                      ))}
                      <Route component={NotFound} />
                    </Switch>
                  </ProjectProvider>
                </Route>
              ) : null}
              <Route>
                {all?.length === 0 ? (
                  <Empty
                    picture={<FolderPlus size={24} strokeWidth={1.5} aria-hidden />}
                    title={text.no_project.title}
                    text={text.no_project.text}
                    action={
                      <Button
                        variant="primary"
                        disabled={isReadOnly}
                        onClick={() => setOpen('create')}
                      >
                        {text.create_project}
                      </Button>
                    }
                  />
                ) : (
                  <NotFound />
                )}
              </Route>
            </Switch>
          )}
        </Suspense>
      </main>
      <PhoneBar {...navigation} />
      <SearchEverything isOpen={open === 'search'} onClose={close} {...navigation} />
      <Shortcuts isOpen={open === 'keys'} onClose={close} />
      <CreateProject isOpen={open === 'create'} onClose={close} />
    </div>
  )
}

/** Tells the hub which project was opened last: requests that name no project mean that one. */
function useSelected(slug: string | undefined, isActive: boolean): void {
  const queryClient = useQueryClient()
  const { mutate } = useMutation({
    mutationFn: (slug: string) => ok(api.POST('/api/cockpit/projects/select', { body: { slug } })),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: projectsQuery.queryKey }),
  })
  useEffect(() => {
    if (slug && !isActive) mutate(slug)
  }, [slug, isActive, mutate])
}

function ReadOnlyBanner() {
  const why = useReadOnly()
  const isAdmin = useIsAdmin()
  const text = useText(common).read_only
  if (!why) return null
  const Icon = why === 'key' ? KeyRound : Eye
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-1 border-b border-line bg-raised px-4 py-1.5 text-sm md:px-6">
      <Icon size={14} className={why === 'key' ? 'text-warn' : 'text-muted'} aria-hidden />
      <p className="min-w-0 flex-1">{why === 'key' ? text.text : text.role}</p>
      {why === 'key' && isAdmin ? (
        <Link href="/settings/service-key" className={buttonClass({ size: 'sm' })}>
          {text.action}
        </Link>
      ) : null}
    </div>
  )
}
