package io.github.pulsarspark.catalog

import scala.jdk.CollectionConverters._
import scala.util.Using

import org.apache.spark.sql.catalyst.analysis.NoSuchNamespaceException
import org.apache.spark.sql.connector.catalog.Identifier

import io.github.pulsarspark.pulsar.PulsarConnection
import io.github.pulsarspark.pulsar.connection.ClusterCalls
import io.github.pulsarspark.pulsar.topics.TopicNames

/** Tenants and namespaces of a cluster, and the topics of a namespace. */
private[catalog] final class CatalogNamespaces(options: CatalogOptions, names: CatalogNames) {

  /** The topics of a namespace, each partitioned one as one, over the binary protocol. */
  def tables(parts: Array[String]): Array[Identifier] = {
    val (tenant, name) = names.namespace(parts.toSeq).getOrElse(throw new NoSuchNamespaceException(parts))
    val shown          = if (parts.isEmpty) Array(tenant, name) else parts
    val topics         = Using.resource(PulsarConnection(options.client))(_.broker().names(s"$tenant/$name"))
    topics.map(TopicNames.local).sorted.map(Identifier.of(shown, _)).toArray
  }

  /** The tenants; for a tenant its namespaces; a namespace has none. */
  def of(parts: Array[String]): Array[Array[String]] = parts match {
    case Array()       => tenants.distinct.sorted.map(Array(_)).toArray
    case Array(tenant) =>
      ofTenant(tenant).getOrElse(throw new NoSuchNamespaceException(parts)).sorted.map(Array(tenant, _)).toArray
    case _ => Array.empty
  }

  private def tenants: Seq[String] =
    if (options.namespaces.nonEmpty) options.namespaces.map(_._1)
    else listed("Listing the tenants", "v2/tenants").fold(Seq(names.default._1))(_.getOrElse(Nil))

  /** Names of the namespaces of a tenant; None if it does not exist. */
  private def ofTenant(tenant: String): Option[Seq[String]] = {
    def among(all: Seq[(String, String)]) = Some(all.filter(_._1 == tenant).map(_._2)).filter(_.nonEmpty)
    if (options.namespaces.nonEmpty) among(options.namespaces)
    else
      listed(s"Listing the namespaces of tenant $tenant", s"v2/namespaces/$tenant")
        .fold(among(Seq(names.default)))(_.map(_.map(_.stripPrefix(s"$tenant/"))))
  }

  /** A list of the admin service: None without the service, None in it without the resource. */
  private def listed(what: String, resource: String): Option[Option[Seq[String]]] =
    Using.resource(PulsarConnection(options.client)) { connection =>
      connection.admin.map { admin =>
        new ClusterCalls(options.client, admin.url).ask(what)(() => admin.find(resource))
          .map(_.elements().asScala.map(_.asText).toSeq)
      }
    }
}
