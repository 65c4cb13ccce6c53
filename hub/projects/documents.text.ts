import { texts } from '../i18n/words.ts'

/** Why a document's path is refused. */
export const documentText = texts(
  {
    no_path: (path: string) => `"${path}" is not a valid file path in this project.`,
    leads_out: (path: string) => `"${path}" leads outside the project.`,
    no_text: 'Only Markdown and text files are edited here. Download the file to change it.',
    changed: 'The file was changed meanwhile. Open it again, and make your changes there.',
    type_name: 'Type the name of the file to delete it for good.',
  },
  {
    no_path: (path) => `“${path}” bu projede geçerli bir dosya yolu değil.`,
    leads_out: (path) => `“${path}” projenin dışına çıkıyor.`,
    no_text: 'Burada yalnızca Markdown ve metin dosyaları düzenlenir. Dosyayı indirip değiştirin.',
    changed: 'Dosya bu arada değişti. Yeniden açıp değişikliklerinizi orada yapın.',
    type_name: 'Dosyayı kalıcı olarak silmek için adını yazın.',
  },
)
