import { createContext, useContext } from 'react'
import type { Schemas } from './api/client.ts'

export type Project = Schemas['Project']

const ProjectContext = createContext<Project | undefined>(undefined)
export const ProjectProvider = ProjectContext.Provider

/** The project that the address names. */
export function useProject(): Project {
  const project = useContext(ProjectContext)
  if (!project) throw new Error('this page belongs into a project')
  return project
}
