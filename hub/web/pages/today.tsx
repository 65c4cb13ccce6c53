import { useText } from '../i18n.ts'
import { Page } from '../shell/page.tsx'
import { shellText } from '../shell/shell.text.ts'

export function Today() {
  const text = useText(shellText)
  return <Page title={text.pages.today}>{null}</Page>
}
