//! The VM's own types, as one enum.

use super::{Object, Vm};
use rustpython_vm::{AsObject, Py, builtins::PyType};

macro_rules! builtin_types {
    ($($variant:ident = $($path:ident).+ ;)*) => {
        /// A type of the VM itself, recognised by identity; subclasses are [`BuiltinType::Other`].
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[allow(missing_docs)]
        pub enum BuiltinType { $($variant,)* Other }

        impl BuiltinType {
            /// Which type this type object is.
            pub fn of_type(class: &Object, vm: &Vm) -> BuiltinType {
                $(if class.is(vm.ctx.$($path).+) { return BuiltinType::$variant; })*
                BuiltinType::Other
            }

            /// The type object; `None` for [`BuiltinType::Other`].
            pub fn object(self, vm: &Vm) -> Option<Object> {
                match self {
                    $(BuiltinType::$variant => Some(vm.ctx.$($path).+.to_owned().into()),)*
                    BuiltinType::Other => None,
                }
            }
        }
    };
}

builtin_types! {
    Int = types.int_type;
    Str = types.str_type;
    None = types.none_type;
    Bool = types.bool_type;
    Float = types.float_type;
    Tuple = types.tuple_type;
    Function = types.function_type;
    List = types.list_type;
    Dict = types.dict_type;
    Type = types.type_type;
    Module = types.module_type;
    BoundMethod = types.bound_method_type;
    BuiltinFunction = types.builtin_function_or_method_type;
    BuiltinMethod = types.builtin_method_type;
    MethodDescriptor = types.method_descriptor_type;
    ClassMethodDescriptor = types.classmethod_descriptor_type;
    WrapperDescriptor = types.wrapper_descriptor_type;
    MethodWrapper = types.method_wrapper_type;
    GetSet = types.getset_type;
    Member = types.member_descriptor_type;
    Property = types.property_type;
    StaticMethod = types.staticmethod_type;
    ClassMethod = types.classmethod_type;
    Object = types.object_type;
    Super = types.super_type;
    Cell = types.cell_type;
    Code = types.code_type;
    Set = types.set_type;
    FrozenSet = types.frozenset_type;
    Slice = types.slice_type;
    Range = types.range_type;
    Bytes = types.bytes_type;
    Complex = types.complex_type;
    Ellipsis = types.ellipsis_type;
    NotImplemented = types.not_implemented_type;
    Generator = types.generator_type;
    ListIterator = types.list_iterator_type;
    TupleIterator = types.tuple_iterator_type;
    RangeIterator = types.range_iterator_type;
    Enumerate = types.enumerate_type;
    Zip = types.zip_type;
    Map = types.map_type;
    Filter = types.filter_type;
    Reversed = types.reverse_iter_type;
    DictKeys = types.dict_keys_type;
    DictValues = types.dict_values_type;
    DictItems = types.dict_items_type;
    DictKeyIterator = types.dict_keyiterator_type;
    DictValueIterator = types.dict_valueiterator_type;
    DictItemIterator = types.dict_itemiterator_type;
    SetIterator = types.set_iterator_type;
    StrIterator = types.str_iterator_type;
    MappingProxy = types.mappingproxy_type;
    Weakref = types.weakref_type;
    Traceback = types.traceback_type;
    Frame = types.frame_type;
}

impl BuiltinType {
    /// Which of the VM's types `object` has exactly.
    pub fn of(object: &Object, vm: &Vm) -> BuiltinType {
        let class: &Py<PyType> = object.class();
        BuiltinType::of_type(&class.to_owned().into(), vm)
    }
}
