package io.github.pulsarspark.catalog

import io.github.pulsarspark.errors.Conditions
import io.github.pulsarspark.options.registry.ScalableTopics
import io.github.pulsarspark.pulsar.topics.TopicNames

/** The names of a catalog's tables, as Spark splits them, as names of topics. Letter case is Pulsar's. Pure.
  *
  * @param catalog
  *   its name in Spark
  * @param default
  *   tenant and namespace of names without one; a namespace of one part belongs to this tenant
  * @param views
  *   the names of the metadata tables that each topic has
  */
private[catalog] final class CatalogNames(catalog: String, val default: (String, String), views: Set[String]) {
  import CatalogNames._

  /** Tenant and namespace; None for what is none. Declarative pipelines pass both in one part, with a dot. */
  def namespace(parts: Seq[String]): Option[(String, String)] = {
    parts.foreach(ScalableTopics.refuse)
    parts match {
      case Seq()                                 => Some(default)
      case Seq(tenant, name)                     => Some((tenant, name)).filterNot(_ => (tenant + name).contains('/'))
      case Seq(Slashes(tenant, name))            => Some((tenant, name))
      case Seq(Dots(tenant, name))               => Some((tenant, name))
      case Seq(name) if name.count(_ == '/') > 1 => throw refused(name, OldName)
      case Seq(name) if name.nonEmpty            => Some((default._1, name))
      case _                                     => None
    }
  }

  /** Tables that a name may mean, in the order in which they are looked for. A topic wins over a metadata table, so
    * that no topic is hidden.
    */
  def candidates(namespace: Seq[String], name: String): Seq[Located] = {
    ScalableTopics.refuse(name)
    val view = Option.when(namespace.nonEmpty && namespace.size <= 3 && views(name)) {
      topic(namespace.init, namespace.last).map(Located.Metadata(_, name))
    }.flatten
    topic(namespace, name).map(Located.Topic(_)).toSeq ++ view
  }

  /** The topic of a name; None where another data source may have the name, as in ``parquet.`/path` ``. */
  private def topic(namespace: Seq[String], name: String): Option[String] =
    if (namespace.size == 1 && name.contains('/')) None
    else this.namespace(namespace).map { case (tenant, space) => TopicNames.of(tenant, space, name) }

  /** The topic that CREATE makes. */
  def created(namespace: Seq[String], name: String): String = {
    ScalableTopics.refuse(name)
    val whole = (namespace :+ name).mkString(".")
    if (namespace.size == 3 && views(name))
      throw refused(whole, s"`$name` is the name of a metadata table, which every topic has")
    val (tenant, space) =
      this.namespace(namespace).getOrElse(throw refused(whole, "it is no tenant, namespace and topic"))
    val topic = TopicNames.of(tenant, space, name)
    if (TopicNames.partitionIndex(topic) >= 0)
      throw Conditions.TopicName(topic = topic, why = "its name is that of a partition of another topic").exception
    topic
  }

  private def refused(name: String, why: String) =
    Conditions.CatalogName(name = name, catalog = catalog, why = why).exception
}

private[catalog] object CatalogNames {

  private val Slashes = raw"([^/]+)/([^/]+)".r
  private val Dots    = raw"([^/.]+)\.([^/.]+)".r
  private val OldName =
    "a namespace has a tenant and a name; those of old clusters, with a cluster between them, are " +
      "not read or written here"
}

/** Table of a catalog that a name may mean. */
private[catalog] sealed trait Located {

  /** Full name of the topic. */
  def topic: String
}

private[catalog] object Located {
  final case class Topic(topic: String)                  extends Located
  final case class Metadata(topic: String, view: String) extends Located
}
