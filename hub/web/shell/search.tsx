import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Mail, Plus, Upload, User, UserPlus, Workflow } from 'lucide-react'
import { useEffect, useState } from 'react'
import { useLocation } from 'wouter'
import { Kbd } from '../../../web/ui/badge.tsx'
import { CommandMenu } from '../../../web/ui/command-menu.tsx'
import { useLanguage, useText } from '../../../web/ui/language.ts'
import { api, ok } from '../api/client.ts'
import { useIsReadOnly } from '../api/queries.ts'
import { missionsText } from '../pages/missions/missions.text.ts'
import { HUB_PAGES, PROJECT_PAGES } from '../pages.tsx'
import { type Navigation, ProjectMark } from './navigation.tsx'
import { shellText } from './shell.text.ts'

const PAUSE_MS = 120

const ICONS = {
  project: <ProjectMark name="·" />,
  lead: <User size={16} aria-hidden />,
  draft: <Mail size={16} aria-hidden />,
  mission: <Workflow size={16} aria-hidden />,
}
const PLACES = {
  project: (slug: string) => `/p/${slug}/today`,
  lead: (slug: string, id: string) => `/p/${slug}/leads?lead=${id}`,
  draft: (slug: string, id: string) => `/p/${slug}/drafts?draft=${id}`,
  mission: (slug: string, id: string) => `/p/${slug}/missions?mission=${id}`,
}

/** The search results, requested when the typing pauses. */
function useFound(typed: string) {
  const [q, setQ] = useState('')
  useEffect(() => {
    const timer = setTimeout(() => setQ(typed.trim()), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [typed])
  return useQuery({
    queryKey: ['search', q],
    queryFn: async ({ signal }) => {
      const query = { q, limit: 12 }
      return (await ok(api.GET('/api/cockpit/search', { params: { query }, signal }))).results
    },
    enabled: q !== '',
    placeholderData: keepPreviousData,
  })
}

/** ⌘K: finds projects, leads, drafts, missions, pages and actions. */
export function SearchEverything({
  isOpen,
  onClose,
  project,
  projects,
  onCreate,
}: Navigation & { isOpen: boolean; onClose: () => void }) {
  const words = useText(shellText)
  const text = words.search_everything
  const { compose } = useText(missionsText)
  const language = useLanguage()
  const isReadOnly = useIsReadOnly()
  const [, navigate] = useLocation()
  const [query, setQuery] = useState('')
  const fold = (value: string) =>
    value.toLocaleLowerCase(language).normalize('NFKD').replace(/\p{M}/gu, '')
  const matches = (title: string) => fold(title).includes(fold(query.trim()))
  const close = () => {
    onClose()
    setQuery('')
  }
  const found = useFound(isOpen ? query : '')
  const results = query.trim() ? (found.data ?? []) : []
  const base = project ? `/p/${project.slug}` : undefined
  const pages = [
    ...(project
      ? PROJECT_PAGES.map((page) => ({ ...page, href: `/p/${project.slug}/${page.path}` }))
      : []),
    ...HUB_PAGES.map((page) => ({ ...page, href: `/${page.path}` })),
  ]
  const groups = [
    {
      label: text.found,
      commands: results.map(({ kind, id, project: slug, title, snippet }) => ({
        id: `${kind}-${id}`,
        icon: ICONS[kind],
        title,
        detail: snippet.startsWith(title)
          ? snippet.slice(title.length).replace(/^ · /, '')
          : snippet,
        hint: text.kinds[kind],
        onRun: () => navigate(PLACES[kind](slug, id)),
      })),
    },
    {
      label: text.go,
      commands: pages
        .map(({ path, icon: Icon, label, href, key }) => ({
          id: `page-${path}`,
          icon: <Icon size={16} aria-hidden />,
          title: label(language),
          hint: (
            <span className="flex gap-1">
              <Kbd>g</Kbd>
              <Kbd>{key}</Kbd>
            </span>
          ),
          onRun: () => navigate(href),
        }))
        .filter(({ title }) => matches(title)),
    },
    {
      label: words.projects,
      commands: projects
        .filter(({ name, slug }) => slug !== project?.slug && matches(name))
        .map(({ slug, name }) => ({
          id: `project-${slug}`,
          icon: <ProjectMark name={name} />,
          title: name,
          onRun: () => navigate(`/p/${slug}/today`),
        })),
    },
    {
      label: text.do,
      commands: (isReadOnly
        ? []
        : [
            ...(base
              ? [
                  {
                    id: 'new-mission',
                    icon: <Workflow size={16} aria-hidden />,
                    title: compose,
                    onRun: () => navigate(`${base}/missions?do=compose`),
                  },
                  {
                    id: 'add-lead',
                    icon: <UserPlus size={16} aria-hidden />,
                    title: text.add_lead,
                    onRun: () => navigate(`${base}/leads?do=add`),
                  },
                  {
                    id: 'import-leads',
                    icon: <Upload size={16} aria-hidden />,
                    title: text.import_leads,
                    onRun: () => navigate(`${base}/leads?do=import`),
                  },
                ]
              : []),
            {
              id: 'create-project',
              icon: <Plus size={16} aria-hidden />,
              title: words.create_project,
              onRun: onCreate,
            },
          ]
      ).filter(({ title }) => matches(title)),
    },
  ]
  return (
    <CommandMenu
      isOpen={isOpen}
      onClose={close}
      label={text.label}
      placeholder={text.placeholder}
      query={query}
      onQuery={setQuery}
      groups={groups}
      isLoading={found.isFetching}
      nothing={text.nothing}
      footer={
        <>
          <span className="flex items-center gap-1">
            <Kbd>↑</Kbd>
            <Kbd>↓</Kbd> {text.choose}
          </span>
          <span className="flex items-center gap-1">
            <Kbd>↵</Kbd> {text.open}
          </span>
        </>
      }
    />
  )
}
