import {
  ChartColumn,
  CheckCheck,
  Columns3,
  FileText,
  FolderCog,
  Inbox,
  ListOrdered,
  Mail,
  Settings,
  Sun,
  Users,
  Workflow,
} from 'lucide-react'
import { type ComponentType, type LazyExoticComponent, lazy } from 'react'
import type { Language } from '../../shared/words/texts.ts'
import { loadPart } from '../../web/shared/connection.ts'
import { shellText } from './shell/shell.text.ts'

export type PageEntry = {
  /** Under /p/<project>/ for pages of a project, under / for those of the hub. */
  path: string
  icon: ComponentType<{ size?: number; 'aria-hidden'?: boolean }>
  label: (language: Language) => string
  /** The key after `g`: `g l` opens the leads. */
  key: string
  /** Whether it is one of the four in a phone's bottom bar. */
  onPhone: boolean
  Page: LazyExoticComponent<ComponentType>
}

const words = (language: Language) => shellText[language].pages

/** The pages of a project, in the order of the sidebar. */
export const PROJECT_PAGES: PageEntry[] = [
  {
    path: 'today',
    icon: Sun,
    label: (language) => words(language).today,
    key: 't',
    onPhone: true,
    Page: lazy(() =>
      loadPart(() => import('./pages/today/today.tsx').then(({ Today }) => ({ default: Today }))),
    ),
  },
  {
    path: 'leads',
    icon: Users,
    label: (language) => words(language).leads,
    key: 'l',
    onPhone: true,
    Page: lazy(() =>
      loadPart(() =>
        import('./pages/leads/leads-pages.tsx').then(({ LeadsPages }) => ({ default: LeadsPages })),
      ),
    ),
  },
  {
    path: 'sales',
    icon: Columns3,
    label: (language) => words(language).sales,
    key: 's',
    onPhone: true,
    Page: lazy(() =>
      loadPart(() => import('./pages/sales/sales.tsx').then(({ Sales }) => ({ default: Sales }))),
    ),
  },
  {
    path: 'drafts',
    icon: Mail,
    label: (language) => words(language).drafts,
    key: 'd',
    onPhone: true,
    Page: lazy(() =>
      loadPart(() =>
        import('./pages/drafts/drafts.tsx').then(({ Drafts }) => ({ default: Drafts })),
      ),
    ),
  },
  {
    path: 'queue',
    icon: CheckCheck,
    label: (language) => words(language).queue,
    key: 'a',
    onPhone: false,
    Page: lazy(() =>
      loadPart(() => import('./pages/queue/queue.tsx').then(({ Queue }) => ({ default: Queue }))),
    ),
  },
  {
    path: 'inbox',
    icon: Inbox,
    label: (language) => words(language).inbox,
    key: 'i',
    onPhone: false,
    Page: lazy(() =>
      loadPart(() => import('./pages/inbox/inbox.tsx').then(({ Inbox }) => ({ default: Inbox }))),
    ),
  },
  {
    path: 'sequences',
    icon: ListOrdered,
    label: (language) => words(language).sequences,
    key: 'q',
    onPhone: false,
    Page: lazy(() =>
      loadPart(() =>
        import('./pages/sequences/sequences.tsx').then(({ Sequences }) => ({
          default: Sequences,
        })),
      ),
    ),
  },
  {
    path: 'missions',
    icon: Workflow,
    label: (language) => words(language).missions,
    key: 'm',
    onPhone: false,
    Page: lazy(() =>
      loadPart(() =>
        import('./pages/missions/missions.tsx').then(({ Missions }) => ({ default: Missions })),
      ),
    ),
  },
  {
    path: 'documents',
    icon: FileText,
    label: (language) => words(language).documents,
    key: 'f',
    onPhone: false,
    Page: lazy(() =>
      loadPart(() =>
        import('./pages/documents/documents.tsx').then(({ Documents }) => ({
          default: Documents,
        })),
      ),
    ),
  },
  {
    path: 'numbers',
    icon: ChartColumn,
    label: (language) => words(language).numbers,
    key: 'n',
    onPhone: false,
    Page: lazy(() =>
      loadPart(() =>
        import('./pages/numbers/numbers.tsx').then(({ Numbers }) => ({ default: Numbers })),
      ),
    ),
  },
  {
    path: 'project',
    icon: FolderCog,
    label: (language) => words(language).project,
    key: 'p',
    onPhone: false,
    Page: lazy(() =>
      loadPart(() =>
        import('./pages/project/project-page.tsx').then(({ ProjectPage }) => ({
          default: ProjectPage,
        })),
      ),
    ),
  },
]

/** The pages of the whole hub. */
export const HUB_PAGES: PageEntry[] = [
  {
    path: 'settings',
    icon: Settings,
    label: (language) => words(language).settings,
    key: ',',
    onPhone: false,
    Page: lazy(() =>
      loadPart(() =>
        import('./pages/settings/settings.tsx').then(({ Settings }) => ({ default: Settings })),
      ),
    ),
  },
]

/** The page on which a project opens. */
export function firstPage(slug: string): string {
  return `/p/${slug}/today`
}
