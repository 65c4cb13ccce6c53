import { texts } from '../i18n/words.ts'

/** Why a project cannot be created, found or deleted. */
export const projectsText = texts(
  {
    none: 'There is no project yet. Create a project.',
    slug_taken: (slug: string) =>
      `A project with the short name “${slug}” already exists. Choose another one.`,
    type_name: 'Type the name of the project to delete it.',
    busy: {
      mail: 'A mail is being sent. Wait until it is finished.',
      mission: 'A mission is running. Cancel it, or wait until it is done.',
    },
  },
  {
    none: 'Henüz proje yok. Bir proje oluşturun.',
    slug_taken: (slug) => `“${slug}” kısa adlı bir proje zaten var. Başka bir kısa ad seçin.`,
    type_name: 'Silmek için projenin adını yazın.',
    busy: {
      mail: 'Bir e-posta gönderiliyor. Bitmesini bekleyin.',
      mission: 'Bir görev sürüyor. İptal edin ya da bitmesini bekleyin.',
    },
  },
)
