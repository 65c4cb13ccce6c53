import { Plus } from 'lucide-react'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { Kbd } from '../../../web/ui/badge.tsx'
import { CommandMenu } from '../../../web/ui/command-menu.tsx'
import { useLanguage, useText } from '../i18n.ts'
import { HUB_PAGES, PROJECT_PAGES } from '../pages.tsx'
import { type Navigation, ProjectMark } from './navigation.tsx'
import { shellText } from './shell.text.ts'

/** ⌘K: every project, lead, draft and mission, every page, and what can be done. */
export function SearchEverything({
  isOpen,
  onClose,
  project,
  projects,
  onCreate,
}: Navigation & { isOpen: boolean; onClose: () => void }) {
  const words = useText(shellText)
  const text = words.search_everything
  const language = useLanguage()
  const [, navigate] = useLocation()
  const [query, setQuery] = useState('')
  const fold = (value: string) =>
    value.toLocaleLowerCase(language).normalize('NFKD').replace(/\p{M}/gu, '')
  const matches = (title: string) => fold(title).includes(fold(query.trim()))
  const close = () => {
    onClose()
    setQuery('')
  }
  const pages = [
    ...(project
      ? PROJECT_PAGES.map((page) => ({ ...page, href: `/p/${project.slug}/${page.path}` }))
      : []),
    ...HUB_PAGES.map((page) => ({ ...page, href: `/${page.path}` })),
  ]
  const groups = [
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
      commands: [
        {
          id: 'create-project',
          icon: <Plus size={16} aria-hidden />,
          title: words.create_project,
          onRun: onCreate,
        },
      ].filter(({ title }) => matches(title)),
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
      isLoading={false}
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
