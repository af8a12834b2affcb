/** A ticket or pull request. Every field is always there; what is not known is empty. */
export interface WorkItem {
  /** `<provider>:[<host>/]<owner>/<repo>#<number>`. */
  ref: string;
  /** `github`. */
  provider: string;
  host: string;
  owner: string;
  repo: string;
  /** `owner/repo`, with the host in front where it is not the provider's own. */
  repository: string;
  number: number;
  /** `issue` or `pull-request`. */
  kind: string;
  url: string;
  /** `issue-<number>`. */
  id: string;
}

/** The type of each field, in the order in which they are written. */
export const WORK_ITEM_FIELDS: {
  readonly [F in keyof WorkItem]: WorkItem[F] extends number ? "integer" : "string";
} = {
  ref: "string",
  provider: "string",
  host: "string",
  owner: "string",
  repo: "string",
  repository: "string",
  number: "integer",
  kind: "string",
  url: "string",
  id: "string",
};

const HOSTS: Readonly<Record<string, string>> = { github: "github.com" };
const REF = /^([a-z]+):(?:([^/#\s]+)\/)?([^/#\s]+)\/([^/#\s]+)#([0-9]{1,15})$/;

export function emptyWorkItem(): WorkItem {
  return {
    ref: "",
    provider: "",
    host: "",
    owner: "",
    repo: "",
    repository: "",
    number: 0,
    kind: "",
    url: "",
    id: "",
  };
}

/**
 * The work item that a ref names: `github:o/r#3`, `github:ghe.example.com/o/r#3`. `kind` is `issue` or `pull-request`
 * where it is known. A ref that is not of this form keeps itself and an id made of it; the rest is empty.
 */
export function workItem(ref: string, kind = ""): WorkItem {
  const [, provider = "", named, owner = "", repo = "", digits = ""] = REF.exec(ref) ?? [];
  const usual = Object.hasOwn(HOSTS, provider) ? HOSTS[provider] : undefined;
  const host = named ?? usual;
  if (usual === undefined || host === undefined) return { ...emptyWorkItem(), ref, id: slug(ref) };
  const number = Number(digits);
  const path = `${owner}/${repo}`;
  return {
    ref,
    provider,
    host,
    owner,
    repo,
    repository: host === usual ? path : `${host}/${path}`,
    number,
    kind,
    url: `https://${host}/${path}/${kind === "pull-request" ? "pull" : "issues"}/${number}`,
    id: `issue-${number}`,
  };
}

function slug(text: string): string {
  return text.replace(/[^A-Za-z0-9._-]+/g, "-");
}
