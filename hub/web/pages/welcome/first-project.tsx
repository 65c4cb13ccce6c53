import { useLocation } from 'wouter'
import { useText } from '../../../../web/ui/language.ts'
import { ProjectForm } from '../../shell/create-project.tsx'
import { accessText } from '../access.text.ts'
import { StepHead } from './step.tsx'

/** The first project. */
export function FirstProject() {
  const text = useText(accessText).first_project
  const [, navigate] = useLocation()
  return (
    <>
      <StepHead title={text.title} text={text.text} />
      <ProjectForm onCreated={() => navigate('/welcome/brand')} />
    </>
  )
}
