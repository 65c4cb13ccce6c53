import { texts } from '../i18n/words.ts'

/** Why a path is refused. */
export const documentText = texts(
  {
    no_path: (path: string) => `"${path}" is no path of a file in this project.`,
    leads_out: (path: string) => `"${path}" leads out of the project.`,
  },
  {
    no_path: (path) => `“${path}” bu projedeki bir dosyanın yolu değil.`,
    leads_out: (path) => `“${path}” projenin dışına çıkıyor.`,
  },
)
