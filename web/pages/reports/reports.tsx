import { useLocation } from 'wouter'
import { useText } from '../../ui/language.ts'
import { Tabs } from '../../ui/tabs.tsx'
import { Analytics } from './analytics.tsx'
import { Audit } from './audit.tsx'
import { reportsText } from './reports.text.ts'
import { Status } from './status.tsx'

const TABS = ['analytics', 'audit', 'status'] as const

/** What was counted, what was done, and which sources deliver. The tab stands in the address. */
export function ReportsPage({ tab }: { tab: string | undefined }) {
  const text = useText(reportsText)
  const [, navigate] = useLocation()
  const value = TABS.find((one) => one === tab) ?? 'analytics'
  const content = { analytics: <Analytics />, audit: <Audit />, status: <Status /> }
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <h1 className="px-5 py-3 text-lg">{text.title}</h1>
      <Tabs
        label={text.title}
        value={value}
        onChange={(next) => navigate(`/reports/${next}`)}
        tabs={TABS.map((name) => ({
          value: name,
          label: text.tabs[name],
          content:
            name === value ? (
              <div className="mx-auto max-w-5xl p-4 md:p-6">{content[name]}</div>
            ) : null,
        }))}
      />
    </div>
  )
}
