//! `API.rs` of each library crate but `testing` lists its public API, so that every change of it is visible in review.
//!
//! `UPDATE_DOCS=1 cargo test -p kube-endpoints-docs api` regenerates the lists. They are read from the source: items that
//! `lib.rs` exports, without private fields and bodies, and the traits that are implemented by hand. Macros are not expanded.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use syn::{Attribute, Fields, File, ImplItem, Item, ItemImpl, ItemMod, Type, UseTree, Visibility};

/// Modules of a crate by path; the empty path is the root.
type Modules = BTreeMap<Vec<String>, Vec<Item>>;

#[test]
fn public_apis_are_listed() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates");
    let mut folders: Vec<PathBuf> =
        fs::read_dir(crates).expect("the folder of crates").map(|entry| entry.expect("an entry").path()).collect();
    folders.sort();
    folders.retain(|folder| folder.join("src/lib.rs").exists() && !folder.ends_with("testing"));
    for folder in &folders {
        let (path, expected) = (folder.join("API.rs"), listing(folder));
        if std::env::var_os("UPDATE_DOCS").is_some() {
            fs::write(&path, &expected).expect("writable");
        }
        let found = fs::read_to_string(&path).unwrap_or_default();
        let difference = found.lines().zip(expected.lines()).find(|(found, expected)| found != expected);
        assert!(
            found == expected,
            "{} does not list the public API; run UPDATE_DOCS=1 cargo test -p kube-endpoints-docs api\n{difference:#?}",
            path.display()
        );
    }
}

fn listing(folder: &Path) -> String {
    let mut modules = Modules::new();
    read(&folder.join("src/lib.rs"), &folder.join("src"), Vec::new(), &mut modules);
    let mut exported = Exported::default();
    exported.module(&modules, &[], &[]);
    let mut listing = "// Public API, listed by docs/tests/it/api.rs.\n".to_owned();
    for (path, items) in exported.by_path {
        let items: Vec<Item> = items.into_iter().map(|(_, item)| item).collect();
        let text = printed(items);
        let path = if path.is_empty() { "crate".to_owned() } else { path.join("::") };
        listing.extend(["\n// ", &path, "\n\n", &text]);
    }
    listing
}

fn printed(items: Vec<Item>) -> String {
    prettyplease::unparse(&File { shebang: None, frontmatter: None, attrs: Vec::new(), items })
}

/// Reads a file and the files of its modules. `children` is the folder of the latter.
fn read(file: &Path, children: &Path, path: Vec<String>, modules: &mut Modules) {
    let text = fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let parsed = syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    collect(parsed.items, children, path, modules);
}

fn collect(items: Vec<Item>, children: &Path, path: Vec<String>, modules: &mut Modules) {
    for item in &items {
        let Item::Mod(module) = item else { continue };
        let name = module.ident.to_string();
        if is_for_tests(&module.attrs) {
            continue;
        }
        let inner = [path.clone(), vec![name.clone()]].concat();
        let folder = children.join(&name);
        if let ItemMod { content: Some((_, items)), .. } = module {
            collect(items.clone(), &folder, inner, modules);
        } else {
            let beside = children.join(format!("{name}.rs"));
            let file = if beside.exists() { beside } else { folder.join("mod.rs") };
            read(&file, &folder, inner, modules);
        }
    }
    modules.insert(path, items);
}

/// Exported items by the path that users write, each with its name.
#[derive(Default)]
struct Exported {
    by_path: BTreeMap<Vec<String>, Vec<(String, Item)>>,
}

impl Exported {
    /// Adds what a public module exports. `path` is where it is defined, `public` the path that users write.
    fn module(&mut self, modules: &Modules, path: &[String], public: &[String]) {
        let Some(items) = modules.get(path) else { return };
        for item in items {
            match item {
                Item::Mod(module) if is_public(&module.vis) && !is_for_tests(&module.attrs) => {
                    let name = module.ident.to_string();
                    self.module(modules, &[path, std::slice::from_ref(&name)].concat(), &[public, &[name]].concat());
                }
                Item::Use(it) if is_public(&it.vis) => {
                    for (from, name) in leaves(&it.tree, Vec::new()) {
                        match resolve(modules, path, &from) {
                            Some((home, name)) => self.item(modules, &home, &name, public),
                            None => self.foreign(&from, &name, public),
                        }
                    }
                }
                _ if named(item).is_some_and(|(vis, _)| is_public(vis)) => {
                    let (_, name) = named(item).expect("just matched");
                    self.item(modules, path, &name, public);
                }
                _ => {}
            }
        }
        if let Some(items) = self.by_path.get_mut(public) {
            items.sort_by(|(a, _), (b, _)| a.cmp(b));
        }
    }

    fn item(&mut self, modules: &Modules, home: &[String], name: &str, public: &[String]) {
        let list = self.by_path.entry(public.to_vec()).or_default();
        let of_name = |item: &&Item| named(item).is_some_and(|(_, it)| it == name);
        for item in modules[home].iter().filter(of_name) {
            list.push((name.to_owned(), bare(item.clone())));
        }
        let mut traits = BTreeSet::new();
        for item in modules.values().flatten() {
            let Item::Impl(it) = item else { continue };
            if is_for_tests(&it.attrs) || !is_of(&it.self_ty, name) {
                continue;
            }
            if it.trait_.is_some() {
                let empty = Item::Impl(ItemImpl { items: Vec::new(), ..without_docs(it.clone()) });
                let text = printed(vec![empty.clone()]);
                if traits.insert(text) {
                    list.push((format!("{name} 2"), empty));
                }
            } else if let Some(methods) = public_methods(it.clone()) {
                list.push((format!("{name} 1"), Item::Impl(methods)));
            }
        }
    }

    fn foreign(&mut self, from: &[String], name: &str, public: &[String]) {
        let text = format!("pub use {};", from.join("::"));
        if let Ok(item) = syn::parse_str::<Item>(&text) {
            self.by_path.entry(public.to_vec()).or_default().push((name.to_owned(), item));
        }
    }
}

/// Follows a `use` to the module and the name of the definition; `None` for items of other crates.
fn resolve(modules: &Modules, at: &[String], from: &[String]) -> Option<(Vec<String>, String)> {
    let (name, prefix) = from.split_last()?;
    let mut home = match prefix.first().map(String::as_str) {
        Some("crate") => Vec::new(),
        Some("super") => at.split_last()?.1.to_vec(),
        _ => at.to_vec(),
    };
    home.extend(prefix.iter().filter(|it| !["crate", "self", "super"].contains(&it.as_str())).cloned());
    let items = modules.get(&home)?;
    if items.iter().any(|item| named(item).is_some_and(|(_, it)| it == *name)) {
        return Some((home, name.clone()));
    }
    let uses = items.iter().filter_map(|item| if let Item::Use(it) = item { Some(&it.tree) } else { None });
    // A path of one name is a crate.
    let mut inner = uses.flat_map(|tree| leaves(tree, Vec::new())).filter(|(from, it)| it == name && from.len() > 1);
    inner.find_map(|(from, _)| resolve(modules, &home, &from))
}

/// Paths and names that a `use` brings into scope.
fn leaves(tree: &UseTree, mut prefix: Vec<String>) -> Vec<(Vec<String>, String)> {
    match tree {
        UseTree::Path(it) => {
            prefix.push(it.ident.to_string());
            leaves(&it.tree, prefix)
        }
        UseTree::Name(it) => {
            prefix.push(it.ident.to_string());
            vec![(prefix, it.ident.to_string())]
        }
        UseTree::Rename(it) => {
            prefix.push(it.ident.to_string());
            vec![(prefix, it.rename.to_string())]
        }
        UseTree::Group(it) => it.items.iter().flat_map(|tree| leaves(tree, prefix.clone())).collect(),
        UseTree::Glob(_) => Vec::new(),
    }
}

fn named(item: &Item) -> Option<(&Visibility, String)> {
    let (vis, ident) = match item {
        Item::Const(it) => (&it.vis, &it.ident),
        Item::Enum(it) => (&it.vis, &it.ident),
        Item::Fn(it) => (&it.vis, &it.sig.ident),
        Item::Struct(it) => (&it.vis, &it.ident),
        Item::Trait(it) => (&it.vis, &it.ident),
        Item::Type(it) => (&it.vis, &it.ident),
        _ => return None,
    };
    Some((vis, ident.to_string()))
}

fn is_public(vis: &Visibility) -> bool {
    matches!(vis, Visibility::Public(_))
}

fn is_for_tests(attrs: &[Attribute]) -> bool {
    attrs
        .iter()
        .any(|it| it.path().is_ident("cfg") && it.meta.require_list().is_ok_and(|it| it.tokens.to_string() == "test"))
}

/// Whether an `impl` is of the type of this name.
fn is_of(ty: &Type, name: &str) -> bool {
    matches!(ty, Type::Path(it) if it.path.segments.last().is_some_and(|it| it.ident == name))
}

/// Removes comments, private fields and bodies.
fn bare(mut item: Item) -> Item {
    let empty = || syn::parse_str("{}").expect("an empty block");
    match &mut item {
        Item::Enum(it) => {
            keep_attributes(&mut it.attrs);
            for variant in &mut it.variants {
                keep_attributes(&mut variant.attrs);
                variant.fields.iter_mut().for_each(|field| keep_attributes(&mut field.attrs));
            }
        }
        Item::Struct(it) => {
            keep_attributes(&mut it.attrs);
            if let Fields::Named(fields) = &mut it.fields {
                let public = fields.named.iter().filter(|field| is_public(&field.vis)).cloned();
                fields.named = public.collect();
            }
            it.fields.iter_mut().for_each(|field| keep_attributes(&mut field.attrs));
        }
        Item::Fn(it) => {
            keep_attributes(&mut it.attrs);
            *it.block = empty();
        }
        Item::Trait(it) => {
            keep_attributes(&mut it.attrs);
            for inner in &mut it.items {
                if let syn::TraitItem::Fn(method) = inner {
                    keep_attributes(&mut method.attrs);
                    method.default = method.default.as_ref().map(|_| empty());
                }
            }
        }
        Item::Const(it) => keep_attributes(&mut it.attrs),
        Item::Type(it) => keep_attributes(&mut it.attrs),
        _ => {}
    }
    item
}

/// Keeps the attributes that matter to users.
fn keep_attributes(attrs: &mut Vec<Attribute>) {
    attrs.retain(|it| ["derive", "non_exhaustive", "must_use"].iter().any(|name| it.path().is_ident(name)));
}

fn without_docs(mut it: ItemImpl) -> ItemImpl {
    it.attrs.clear();
    it
}

fn public_methods(it: ItemImpl) -> Option<ItemImpl> {
    let mut it = without_docs(it);
    it.items.retain_mut(|item| match item {
        ImplItem::Fn(method) => {
            keep_attributes(&mut method.attrs);
            method.block = syn::parse_str("{}").expect("an empty block");
            is_public(&method.vis)
        }
        ImplItem::Const(constant) => {
            keep_attributes(&mut constant.attrs);
            is_public(&constant.vis)
        }
        _ => false,
    });
    (!it.items.is_empty()).then_some(it)
}
