package io.github.pulsarspark.catalog

import io.github.pulsarspark.errors.Conditions
import io.github.pulsarspark.options.ClientOptions
import io.github.pulsarspark.options.registry.{CheckedOptions, OptionRegistry, OptionValue, Scope}

/** The options of a catalog. They hold for all of its tables, below those of a query.
  *
  * @param all
  *   as the user set them, for reads and writes
  * @param namespace
  *   tenant and namespace of names without one
  * @param namespaces
  *   those that are listed; empty = those that the admin service lists
  */
private[pulsarspark] final case class CatalogOptions(
    catalog: String,
    client: ClientOptions,
    all: Map[String, String],
    namespace: (String, String),
    namespaces: Seq[(String, String)],
    allowDrop: Boolean
) {
  override def toString: String = s"CatalogOptions($catalog)"
}

private[pulsarspark] object CatalogOptions {

  /** Checks everything that needs no cluster.
    *
    * @param catalog
    *   its name in Spark
    * @param fieldsOf
    *   the names of the Pulsar client's own settings under a prefix
    */
  def apply(catalog: String, set: Map[String, String], fieldsOf: String => Seq[String]): CatalogOptions = {
    OfTables.find(key => set.keys.exists(_.equalsIgnoreCase(key))).foreach { key =>
      throw Conditions.OptionWrongMode(option = key, mode = Scope.Catalog.words, allowed = "query").exception
    }
    val options = CheckedOptions(set, Scope.Catalog, fieldsOf)
    CatalogOptions(
      catalog,
      ClientOptions(options),
      set,
      OptionValue.namespace("namespace", options("namespace")),
      options.get("namespaces").toSeq.flatMap(OptionValue.topics).map(OptionValue.namespace("namespaces", _)),
      options.boolean("allowDrop")
    )
  }

  /** Options that the name of a table replaces. */
  private val OfTables = OptionRegistry.exactlyOne.flatMap(_._1) :+ "metadata"
}
