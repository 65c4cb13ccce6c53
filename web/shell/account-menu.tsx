import { CircleUser } from 'lucide-react'
import { useLocation } from 'wouter'
import type { Language } from '../../shared/words/texts.ts'
import { signOut, useSession } from '../api/session.ts'
import { addressOf } from '../api/settings.ts'
import { LANGUAGE_NAMES, setLanguage, useLanguage, useText } from '../ui/language.ts'
import { Menu, type MenuItem } from '../ui/menu.tsx'
import { setTheme, type Theme, useTheme } from '../ui/theme.ts'
import { shellText } from './shell.text.ts'

/** Who is signed in, and how the console looks to them. */
export function AccountMenu({ onKeys }: { onKeys: () => void }) {
  const text = useText(shellText)
  const session = useSession()
  const language = useLanguage()
  const theme = useTheme()
  const [path, navigate] = useLocation()
  const languages = Object.entries(LANGUAGE_NAMES) as [Language, string][] // safe: its keys
  const themes: Theme[] = ['system', 'dark', 'light']
  const items: MenuItem[] = [
    { kind: 'label', label: session?.user.email ?? '' },
    { label: text.my_account, hint: 'g u', onSelect: () => navigate('/account') },
    { kind: 'line' },
    { kind: 'label', label: text.language },
    ...languages.map(([value, label]) => ({
      label,
      isChecked: value === language,
      onSelect: () => setLanguage(value),
    })),
    { kind: 'line' },
    { kind: 'label', label: text.theme },
    ...themes.map((value) => ({
      label: text.themes[value],
      isChecked: value === theme,
      onSelect: () => setTheme(value),
    })),
    { kind: 'line' },
    { label: text.keys, hint: '?', onSelect: onKeys },
    { label: text.api, onSelect: () => location.assign(addressOf('/docs')) },
    { label: text.status, onSelect: () => location.assign(addressOf('/status')) },
    { label: text.sign_out, onSelect: () => void signOut() },
  ]
  return (
    <Menu
      align="end"
      items={items}
      trigger={
        <button
          type="button"
          aria-current={path.startsWith('/account') ? 'page' : undefined}
          className="flex w-full flex-col items-center gap-0.5 rounded-control px-1 py-1.5 text-xs font-medium text-muted hover:bg-hover hover:text-fg aria-[current]:bg-selected aria-[current]:text-fg md:w-16"
        >
          <CircleUser size={20} strokeWidth={1.75} aria-hidden />
          {text.account}
        </button>
      }
    />
  )
}
