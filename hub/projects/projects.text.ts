import { texts } from '../i18n/words.ts'

/** Why a project cannot be created, found or deleted. */
export const projectsText = texts(
  {
    none: 'There is no project yet. Create a project.',
    slug_taken: (slug: string) =>
      `A project with the short name “${slug}” already exists. Choose another one.`,
    type_name: 'Type the name of the project to delete it.',
    sections: {
      value_proposition: 'value proposition',
      tone: 'tone of voice',
      proof_points: 'proof points',
      offers: 'offers',
    },
    not_said: (missing: string) =>
      `The project does not say yet: ${missing}. Nothing was invented for it; add it on the Project page.`,
    too_long: (count: number, most: number) =>
      `${count === 1 ? 'A paragraph' : `${count} paragraphs`} of the project’s description with more than ${most} characters cannot support what a mail says; part ${count === 1 ? 'it' : 'them'} into shorter ones on the Project page.`,
    too_many: (count: number, most: number) =>
      `Only the first ${most} statements of the project support what a mail says; ${count} more ${count === 1 ? 'does' : 'do'} not.`,
    archive: {
      none: 'There is no such archive. See projects/archives for all.',
      taken: (slug: string) =>
        `A project with the short name “${slug}” exists. Delete it first, or keep it.`,
      damaged: 'The archive is damaged or not one of a project. Nothing was changed.',
      restored: 'The project came back from its archive; check and approve the mail again.',
      type_name: 'Type the name of the archive to delete it for good.',
    },
    busy: {
      mail: 'A mail is being sent. Wait until it is finished.',
      sequence: 'A sequence is running. Stop it first.',
      mission: 'A mission is running. Cancel it, or wait until it is done.',
      import: 'A list is being imported. Wait until it is done.',
    },
  },
  {
    none: 'Henüz proje yok. Bir proje oluşturun.',
    slug_taken: (slug) => `“${slug}” kısa adlı bir proje zaten var. Başka bir kısa ad seçin.`,
    type_name: 'Silmek için projenin adını yazın.',
    sections: {
      value_proposition: 'değer önerisi',
      tone: 'üslup',
      proof_points: 'kanıtlar',
      offers: 'teklifler',
    },
    not_said: (missing) =>
      `Projede henüz yazmıyor: ${missing}. Yerine bir şey uydurulmadı; Proje sayfasında ekleyin.`,
    too_long: (count, most) =>
      `Proje tanımında ${most} karakterden uzun ${count} paragraf bir e-postanın söylediğine kanıt olamaz; Proje sayfasında daha kısa paragraflara bölün.`,
    too_many: (count, most) =>
      `Bir e-postanın söylediğine yalnızca projedeki ilk ${most} ifade kanıt olur; ${count} ifade daha dışarıda kaldı.`,
    archive: {
      none: 'Böyle bir arşiv yok. Hepsi: projects/archives.',
      taken: (slug) => `“${slug}” kısa adlı bir proje var. Önce onu silin ya da o kalsın.`,
      damaged: 'Arşiv bozuk ya da bir projeye ait değil. Hiçbir şey değişmedi.',
      restored: 'Proje arşivinden geri geldi; e-postayı yeniden kontrol edip onaylayın.',
      type_name: 'Arşivi kalıcı olarak silmek için adını yazın.',
    },
    busy: {
      mail: 'Bir e-posta gönderiliyor. Bitmesini bekleyin.',
      sequence: 'Bir dizi sürüyor. Önce onu durdurun.',
      mission: 'Bir görev sürüyor. İptal edin ya da bitmesini bekleyin.',
      import: 'Bir liste içe aktarılıyor. Bitmesini bekleyin.',
    },
  },
)
