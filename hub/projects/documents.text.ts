import { texts } from '../i18n/words.ts'

/** Why a document's path is refused. */
export const documentText = texts(
  {
    no_path: (path: string) => `"${path}" is not a valid file path in this project.`,
    leads_out: (path: string) => `"${path}" leads outside the project.`,
  },
  {
    no_path: (path) => `“${path}” bu projede geçerli bir dosya yolu değil.`,
    leads_out: (path) => `“${path}” projenin dışına çıkıyor.`,
  },
)
