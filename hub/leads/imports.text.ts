import { texts } from '../i18n/words.ts'

/** What is wrong with a file of leads, with a row of it, and why an import stopped. */
export const importsText = texts(
  {
    file: {
      none: 'Choose a file.',
      type: 'Send the file as text/csv, or in a form.',
      no_header: 'The file has no header row. Put the names of the columns into row 1.',
      unclosed: (line: number) =>
        `The file is no CSV: a quotation mark is not closed by line ${line}. Close it, or take it out.`,
      damaged: 'The file is no CSV. Save it as CSV in a spreadsheet, then choose it again.',
    },
    mapping: {
      no_json: 'The mapping is no JSON.',
      no_column: (column: string) => `The file has no column “${column}”. Choose the file again.`,
      unnamed: 'Say which column has the name, the e-mail or the company.',
    },
    row: {
      stage: 'This is no stage. Use new, contacted, replied, meeting, proposal, won or lost.',
      lawful_basis: 'This is no lawful basis. Use consent, contract or legitimate interest.',
      score: 'A score is a whole number from 0 to 100.',
      cells: (cells: number, columns: number) =>
        `The row has ${cells} cells, the header ${columns}. Look for a missing quotation mark.`,
      unnamed: 'There is neither a name nor an e-mail nor a company.',
      known_email: 'Another lead of this project has this e-mail.',
    },
    stopped: {
      gone: 'The file is gone. Import it again; what came in already is not doubled.',
      fault: 'It stopped by a fault. Import the file again; what came in already is not doubled.',
    },
    /** The two columns that a file of refused rows has more than the one they came in. */
    columns: { row: 'row', mistakes: 'mistakes' },
  },
  {
    file: {
      none: 'Bir dosya seçin.',
      type: 'Dosyayı text/csv olarak ya da bir formda gönderin.',
      no_header: 'Dosyada başlık satırı yok. Sütun adlarını ilk satıra yazın.',
      unclosed: (line) =>
        `Dosya CSV değil: bir tırnak ${line}. satıra dek kapanmıyor. Kapatın ya da silin.`,
      damaged: 'Dosya CSV değil. Bir hesap tablosunda CSV olarak kaydedip yeniden seçin.',
    },
    mapping: {
      no_json: 'Eşleme JSON değil.',
      no_column: (column) => `Dosyada “${column}” adlı sütun yok. Dosyayı yeniden seçin.`,
      unnamed: 'Adın, e-postanın ya da firmanın hangi sütunda olduğunu seçin.',
    },
    row: {
      stage:
        'Bu bir aşama değil. Yeni, İletişim kuruldu, Yanıtladı, Görüşme, Teklif, Kazanıldı ya da Kaybedildi yazın.',
      lawful_basis: 'Bu bir hukuki dayanak değil. Açık rıza, Sözleşme ya da Meşru menfaat yazın.',
      score: 'Puan 0 ile 100 arasında bir tam sayıdır.',
      cells: (cells, columns) =>
        `Satırda ${cells} hücre var, başlıkta ${columns}. Eksik bir tırnak arayın.`,
      unnamed: 'Ne ad ne e-posta ne de firma var.',
      known_email: 'Bu e-posta projedeki başka bir adayda kayıtlı.',
    },
    stopped: {
      gone: 'Dosya silinmiş. Yeniden aktarın; gelmiş olanlar iki kez eklenmez.',
      fault: 'Bir sorun yüzünden durdu. Dosyayı yeniden aktarın; gelmiş olanlar iki kez eklenmez.',
    },
    columns: { row: 'satır', mistakes: 'hatalar' },
  },
)
