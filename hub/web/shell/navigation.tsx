import { useMutation } from '@tanstack/react-query'
import {
  ChevronsUpDown,
  Ellipsis,
  Keyboard,
  LogOut,
  Plus,
  Search,
  SlidersHorizontal,
} from 'lucide-react'
import { Link, useLocation } from 'wouter'
import type { Language } from '../../../shared/words/texts.ts'
import { useToastError } from '../../../web/shared/errors.tsx'
import { Kbd } from '../../../web/ui/badge.tsx'
import { IconButton } from '../../../web/ui/button.tsx'
import { cn } from '../../../web/ui/class-names.ts'
import { MOD } from '../../../web/ui/keys.ts'
import { LANGUAGE_NAMES, setLanguage, useLanguage, useText } from '../../../web/ui/language.ts'
import { Menu, type MenuItem } from '../../../web/ui/menu.tsx'
import { setTheme, type Theme, useTheme } from '../../../web/ui/theme.ts'
import { useIsReadOnly } from '../api/queries.ts'
import { signOut } from '../api/session.ts'
import { useLook } from '../look.ts'
import { firstPage, HUB_PAGES, type PageEntry, PROJECT_PAGES } from '../pages.tsx'
import type { Project } from '../project.ts'
import { shellText } from './shell.text.ts'

export type Navigation = {
  project: Project | undefined
  projects: Project[]
  onSearch: () => void
  onKeys: () => void
  onCreate: () => void
}

/** The navigation at the left of a wide page. */
export function Sidebar(props: Navigation) {
  const { project, onSearch } = props
  const text = useText(shellText)
  const look = useLook()
  return (
    <aside className="hidden w-60 shrink-0 flex-col border-r border-line bg-surface md:flex">
      <div className="p-3 pb-2">
        <ProjectSwitcher {...props} />
      </div>
      <div className="px-3 pb-3">
        <button
          type="button"
          onClick={onSearch}
          className="flex h-8 w-full items-center gap-2 rounded-control border border-line px-2 text-muted hover:border-line-strong hover:text-fg"
        >
          <Search size={14} aria-hidden />
          <span className="flex-1 text-left">{text.search}</span>
          <Kbd>{MOD} K</Kbd>
        </button>
      </div>
      <nav
        aria-label={text.navigation}
        className="flex flex-1 flex-col gap-0.5 overflow-y-auto px-3"
      >
        {project
          ? PROJECT_PAGES.map((page) => (
              <PageLink key={page.path} page={page} href={`/p/${project.slug}/${page.path}`} />
            ))
          : null}
        <div className="my-2 h-px bg-line" />
        {HUB_PAGES.map((page) => (
          <PageLink key={page.path} page={page} href={`/${page.path}`} />
        ))}
      </nav>
      <footer className="flex items-center gap-2 border-t border-line p-3">
        {look.logo ? <img src={look.logo} alt="" className="size-5 object-contain" /> : null}
        <span className="min-w-0 flex-1 truncate text-sm text-muted">{look.name}</span>
        <Menu
          align="end"
          items={usePreferences(props.onKeys)}
          trigger={
            <IconButton label={text.menu}>
              <SlidersHorizontal size={16} aria-hidden />
            </IconButton>
          }
        />
      </footer>
    </aside>
  )
}

function PageLink({ page, href }: { page: PageEntry; href: string }) {
  const language = useLanguage()
  const [path] = useLocation()
  const isHere = path === href || path.startsWith(`${href}/`)
  const { icon: Icon } = page
  return (
    <Link
      href={href}
      aria-current={isHere ? 'page' : undefined}
      className={cn(
        'flex h-8 items-center gap-2.5 rounded-control px-2 font-medium transition-colors',
        isHere ? 'bg-hover text-fg' : 'text-muted hover:bg-hover hover:text-fg',
      )}
    >
      <Icon size={16} aria-hidden />
      <span className="truncate">{page.label(language)}</span>
    </Link>
  )
}

/** A project's symbol: a square with its first letter. */
export function ProjectMark({ name }: { name: string }) {
  return (
    <span
      aria-hidden
      className="inline-flex size-6 shrink-0 items-center justify-center rounded-control bg-fg text-xs font-semibold text-ink"
    >
      {[...name.trim()][0]?.toLocaleUpperCase()}
    </span>
  )
}

function ProjectSwitcher({ project, projects, onCreate }: Navigation) {
  const text = useText(shellText)
  const isReadOnly = useIsReadOnly()
  const [, navigate] = useLocation()
  const items: MenuItem[] = [
    { kind: 'label', label: text.projects },
    ...projects.map(
      (one): MenuItem => ({
        label: one.name,
        icon: <ProjectMark name={one.name} />,
        hint: one.read_only ? text.read_only : undefined,
        isChecked: one.slug === project?.slug,
        onSelect: () => navigate(firstPage(one.slug)),
      }),
    ),
    { kind: 'line' },
    {
      label: text.create_project,
      icon: <Plus size={16} aria-hidden />,
      isDisabled: isReadOnly,
      onSelect: onCreate,
    },
  ]
  return (
    <Menu
      items={items}
      className="w-54"
      trigger={
        <button
          type="button"
          className="flex h-10 w-full min-w-0 items-center gap-2.5 rounded-control px-2 text-left hover:bg-hover"
        >
          {project ? <ProjectMark name={project.name} /> : <Plus size={16} aria-hidden />}
          <span className="sr-only">{text.switch_project}:</span>
          <span className="min-w-0 flex-1 truncate font-semibold">
            {project?.name ?? text.create_project}
          </span>
          <ChevronsUpDown size={14} className="shrink-0 text-muted" aria-hidden />
        </button>
      }
    />
  )
}

function usePreferences(onKeys: () => void): MenuItem[] {
  const text = useText(shellText)
  const language = useLanguage()
  const theme = useTheme()
  const say = useToastError()
  const leave = useMutation({ mutationFn: signOut, onError: say })
  const languages = Object.entries(LANGUAGE_NAMES) as [Language, string][] // safe: the keys of LANGUAGES
  const themes = Object.entries(text.themes) as [Theme, string][] // safe: the keys of themes
  return [
    { kind: 'label', label: text.language },
    ...languages.map(
      ([value, label]): MenuItem => ({
        label,
        isChecked: value === language,
        onSelect: () => setLanguage(value),
      }),
    ),
    { kind: 'label', label: text.theme },
    ...themes.map(
      ([value, label]): MenuItem => ({
        label,
        isChecked: value === theme,
        onSelect: () => setTheme(value),
      }),
    ),
    { kind: 'line' },
    { label: text.keys, icon: <Keyboard size={16} aria-hidden />, hint: '?', onSelect: onKeys },
    {
      label: text.sign_out,
      icon: <LogOut size={16} aria-hidden />,
      onSelect: () => leave.mutate(),
    },
  ]
}

/** The top and bottom bars on a phone. */
export function PhoneBar(props: Navigation) {
  const { project, onSearch, onKeys } = props
  const text = useText(shellText)
  const language = useLanguage()
  const [path, navigate] = useLocation()
  const preferences = usePreferences(onKeys)
  const rest: MenuItem[] = [
    ...(project
      ? PROJECT_PAGES.filter(({ onPhone }) => !onPhone).map(
          ({ path, label, icon: Icon }): MenuItem => ({
            label: label(language),
            icon: <Icon size={16} aria-hidden />,
            onSelect: () => navigate(`/p/${project.slug}/${path}`),
          }),
        )
      : []),
    ...HUB_PAGES.map(
      ({ path, label, icon: Icon }): MenuItem => ({
        label: label(language),
        icon: <Icon size={16} aria-hidden />,
        onSelect: () => navigate(`/${path}`),
      }),
    ),
    { kind: 'line' },
    ...preferences,
  ]
  const tab =
    'flex min-w-0 flex-1 flex-col items-center justify-center gap-0.5 rounded-control text-xs font-medium'
  return (
    <>
      <div className="order-first flex h-12 shrink-0 items-center gap-1 border-b border-line bg-surface px-2 md:hidden">
        <div className="min-w-0 flex-1">
          <ProjectSwitcher {...props} />
        </div>
        <IconButton label={text.search} onClick={onSearch}>
          <Search size={18} aria-hidden />
        </IconButton>
      </div>
      <nav
        aria-label={text.navigation}
        className="flex h-14 shrink-0 items-stretch gap-1 border-t border-line bg-surface px-2 py-1 pb-[max(4px,env(safe-area-inset-bottom))] md:hidden"
      >
        {project
          ? PROJECT_PAGES.filter(({ onPhone }) => onPhone).map((page) => {
              const href = `/p/${project.slug}/${page.path}`
              const isHere = path.startsWith(href)
              const { icon: Icon } = page
              return (
                <Link
                  key={page.path}
                  href={href}
                  aria-current={isHere ? 'page' : undefined}
                  className={cn(tab, isHere ? 'text-fg' : 'text-muted')}
                >
                  <Icon size={20} aria-hidden />
                  <span className="max-w-full truncate">{page.label(language)}</span>
                </Link>
              )
            })
          : null}
        <Menu
          align="end"
          items={rest}
          trigger={
            <button type="button" className={cn(tab, 'text-muted')}>
              <Ellipsis size={20} aria-hidden />
              <span>{text.more}</span>
            </button>
          }
        />
      </nav>
    </>
  )
}
