import { lazy } from 'react'
import { Route, Switch } from 'wouter'
import { useProject } from '../../project.ts'
import { Leads } from './leads.tsx'

const Duplicates = lazy(() =>
  import('./merge/duplicates.tsx').then(({ Duplicates }) => ({ default: Duplicates })),
)
const Imports = lazy(() =>
  import('./import/imports.tsx').then(({ Imports }) => ({ default: Imports })),
)

/** The leads, and below their address their duplicates and the history of imports. */
export function LeadsPages() {
  const { slug } = useProject()
  return (
    <Switch>
      <Route path={`/p/${slug}/leads/duplicates`} component={Duplicates} />
      <Route path={`/p/${slug}/leads/imports`} component={Imports} />
      <Route component={Leads} />
    </Switch>
  )
}
